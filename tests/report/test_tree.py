"""The figure of a tree."""

from itertools import pairwise

import pandas as pd
import pytest

from fairtrial.errors import InputError
from fairtrial.learners.c45 import C45
from fairtrial.report.figures.tree import draw_tree, layout_tree
from fairtrial.report.files import save
from tests.reference.trees import drawn
from tests.reference.weka.asking import built_in


def iris():
    frame = built_in("iris")
    return C45().fit(frame.iloc[:, :-1], frame["class"]).tree_


def test_words_and_answers():
    places = layout_tree(iris().frame())
    assert places["text"][0] == "petal_width_cm"
    assert sorted(places[places["leaf"]]["text"]) == [
        "setosa (50)",
        "versicolor (3/1)",
        "versicolor (48/1)",
        "virginica (3)",
        "virginica (46/1)",
    ]
    assert places["answer"].tolist()[1:3] == ["≤ 0.6", "> 0.6"]


def test_leaves_stand_apart_and_children_right_of_their_parents():
    frame, weights = drawn(8)
    places = layout_tree(C45(unpruned=True, collapse=False).fit(frame.iloc[:, :-1], frame["class"], weights).tree_.frame())
    heights = sorted(places[places["leaf"]]["y"])
    assert min(b - a for a, b in pairwise(heights)) >= 20
    children = places[places["parent"] >= 0]
    assert (children["x"].to_numpy() > places["end"].to_numpy()[children["parent"]]).all()


def test_a_lone_leaf_is_drawn():
    chart = draw_tree(C45().fit([[1.0], [2.0]], ["a", "a"]).tree_)
    assert chart.to_dict()["title"]["subtitle"] == ["1 leaf, 1 node. Leaves: class (training rows/errors)"]


def test_the_figure_is_written_and_takes_a_frame(tmp_path):
    path = save(draw_tree(iris().frame(), title="Iris"), tmp_path / "tree.svg")
    text = path.read_text()
    for word in ("Iris", "petal_width_cm", "setosa (50)", "≤ 0.6"):
        assert word in text


def test_large_trees_and_other_frames_are_refused():
    with pytest.raises(InputError, match="at most 3 leaves"):
        draw_tree(iris(), most_leaves=3)
    with pytest.raises(InputError, match="must have the column"):
        draw_tree(pd.DataFrame({"node": [0]}))
