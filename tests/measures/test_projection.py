"""The projection against the tutorial's anneal tables, plane geometry, scikit-learn's scaling and bad input."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st
from scipy.sparse.csgraph import minimum_spanning_tree

from fairtrial.errors import InputError
from fairtrial.measures import Confusion, Projection, projection

# The tutorial's Anneal tables; its row e of AdaBoost lost one of its zeros in print.
ADABOOST = [
    [0, 0, 8, 0, 0, 0],
    [0, 0, 99, 0, 0, 0],
    [0, 0, 684, 0, 0, 0],
    [0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 67, 0],
    [0, 0, 40, 0, 0, 0],
]
NB = [
    [7, 0, 1, 0, 0, 0],
    [0, 99, 0, 0, 0, 0],
    [3, 38, 564, 0, 0, 79],
    [0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, 67, 0],
    [0, 0, 2, 0, 0, 38],
]
A, B, C = [[40, 10], [10, 40]], [[50, 0], [20, 30]], [[50, 0], [4, 46]]
METHODS = ["tree", "mds"]


@st.composite
def three_class_tables(draw: st.DrawFn) -> dict[str, list[np.ndarray]]:
    """Learners with a three-class and a two-class domain, of 12 rows in each class."""

    def line(cells: int) -> list[int]:
        cuts = sorted(draw(st.lists(st.integers(0, 12), min_size=cells - 1, max_size=cells - 1)))
        return np.diff([0, *cuts, 12]).tolist()

    def learner() -> list[np.ndarray]:
        return [np.array([line(3) for _ in range(3)]), np.array([line(2) for _ in range(2)])]

    return {f"learner {i}": learner() for i in range(draw(st.integers(1, 6)))}


def true_distances(tables: dict[str, list[np.ndarray]], power: int) -> np.ndarray:
    """Ideal first; written with loops, apart from the code under test."""
    ideal = [np.diag(t.sum(axis=1)) for t in next(iter(tables.values()))]
    everyone = [ideal, *tables.values()]
    result = np.zeros((len(everyone), len(everyone)))
    for (i, one), (j, other) in itertools.product(enumerate(everyone), repeat=2):
        cells = sum((np.abs(s - t) ** power).sum() for s, t in zip(one, other, strict=True))
        result[i, j] = cells ** (1 / power)
    return result


def plane(result: Projection) -> np.ndarray:
    points = result.points.to_numpy()
    return np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("distance", "ada", "nb"), [("L2", 151.427, 148.674), ("L1", 294, 246)])
def test_anneal(method: str, distance: str, ada: float, nb: float) -> None:
    result = projection({"AdaBoost": ADABOOST, "NB": NB}, distance=distance, method=method)
    assert result.distance_to_ideal.to_dict() == pytest.approx({"AdaBoost": ada, "NB": nb}, abs=5e-4)
    # Three points lie in a plane: nothing is distorted. NB is nearer, so it is placed first, on the axis.
    assert result.stress == pytest.approx(0, abs=1e-9)
    assert result.exact.to_numpy().all()
    assert result.points.loc["NB"].tolist() == pytest.approx([nb, 0], abs=5e-4)
    assert result.points.loc["AdaBoost", "y"] > 0
    assert result.parents.to_dict() == {"AdaBoost": "Ideal", "NB": "Ideal"}


@pytest.mark.parametrize("method", METHODS)
def test_three_learners_by_hand(method: str) -> None:
    """One two-class domain under L2 is planar: the errors of class 0 and of class 1, each times sqrt(2), are coordinates."""
    result = projection({"A": A, "B": B, "C": C}, method=method)
    root = np.sqrt(2)
    # C (0, 4) turned onto the x-axis; A (10, 10), B (0, 20).
    expected = {"Ideal": (0, 0), "A": (10 * root, 10 * root), "B": (20 * root, 0), "C": (4 * root, 0)}
    np.testing.assert_allclose(result.points, pd.DataFrame(expected, index=["x", "y"]).T, atol=1e-6)
    assert result.parents.to_dict() == {"A": "C", "B": "A", "C": "Ideal"}
    assert result.stress == pytest.approx(0, abs=1e-8)
    assert result.learners == ("A", "B", "C")


def test_l1_may_map_learners_to_one_point() -> None:
    """A and B are 32 from C and 40 from Ideal, C is 8 from Ideal: both must lie behind C on the axis, so on one spot."""
    result = projection({"A": A, "B": B, "C": C}, distance="L1")
    assert result.distances.loc["A", "B"] == 40
    np.testing.assert_allclose(result.points.loc["A"], result.points.loc["B"], atol=1e-6)
    assert not result.exact.loc["A", "B"]
    assert result.exact.to_numpy().sum() == 14
    assert result.stress == pytest.approx(np.sqrt(40**2 / (8**2 + 3 * 40**2 + 2 * 32**2)))


@given(three_class_tables(), st.sampled_from(["L1", "L2"]))
@settings(max_examples=60, deadline=None)
def test_tree_keeps_distances_to_ideal_and_to_the_parent(tables: dict[str, list[np.ndarray]], distance: str) -> None:
    result = projection(tables, distance=distance)
    expected = true_distances(tables, 1 if distance == "L1" else 2)
    np.testing.assert_allclose(result.distances, expected, atol=1e-9)
    shown = plane(result)
    np.testing.assert_allclose(shown[0], expected[0], atol=1e-7)
    for learner, parent in result.parents.items():
        i, j = (result.points.index.get_loc(name) for name in (learner, parent))
        assert shown[i, j] == pytest.approx(expected[i, j], abs=1e-6)
        assert result.exact.loc[learner, parent]
    assert result.exact["Ideal"].all()
    total = (expected**2).sum()
    stress = np.sqrt(((shown - expected) ** 2).sum() / total) if total else 0
    assert result.stress == pytest.approx(stress, abs=1e-9)


@given(three_class_tables(), st.sampled_from(["L1", "L2"]))
@settings(max_examples=40, deadline=None)
def test_parents_make_a_minimum_spanning_tree(tables: dict[str, list[np.ndarray]], distance: str) -> None:
    result = projection(tables, distance=distance)
    # One more for each edge: SciPy takes a distance of 0 for a missing edge.
    weight = sum(result.distances.loc[learner, parent] + 1 for learner, parent in result.parents.items())
    assert weight == pytest.approx(minimum_spanning_tree(result.distances.to_numpy() + 1).sum())
    for learner in result.parents.index:
        steps = [learner]
        while steps[-1] != "Ideal":
            steps.append(result.parents[steps[-1]])
            assert len(steps) <= len(tables) + 1


@given(three_class_tables(), st.sampled_from(["L1", "L2"]))
@settings(max_examples=15, deadline=None)
def test_mds_is_a_minimum_of_stress(tables: dict[str, list[np.ndarray]], distance: str) -> None:
    from sklearn.manifold import smacof

    result = projection(tables, distance=distance, method="mds")
    expected = result.distances.to_numpy()
    assert result.points.loc["Ideal"].tolist() == [0, 0]
    raw = ((plane(result) - expected) ** 2).sum() / 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its defaults change between versions
        better = smacof(expected, init=result.points.to_numpy(), n_init=1, max_iter=300, eps=1e-12, normalized_stress=False)[1]
    # scikit-learn, started from our points, finds nothing better in the neighbourhood.
    assert raw <= better + 1e-6 * (expected**2).sum()


@pytest.mark.parametrize("method", METHODS)
def test_the_same_input_gives_the_same_picture(method: str) -> None:
    tables = {"Ada": ADABOOST, "NB": NB, "J48": (np.array(NB) + np.array(ADABOOST)) / 2}
    one, other = (projection(tables, method=method).points for _ in range(2))
    pd.testing.assert_frame_equal(one, other)


@pytest.mark.parametrize("distance", ["L1", "L2"])
@pytest.mark.parametrize("method", METHODS)
def test_coincident_learners_share_a_point(method: str, distance: str) -> None:
    result = projection({"A": [A, C], "copy": [A, C], "B": [B, A], "C": [C, B]}, method=method, distance=distance)
    np.testing.assert_allclose(result.points.loc["A"], result.points.loc["copy"], atol=1e-6)
    assert result.exact.loc["A", "copy"]
    assert result.distances.loc["A", "copy"] == 0


@pytest.mark.parametrize("method", METHODS)
def test_a_learner_equal_to_ideal_lies_at_the_origin(method: str) -> None:
    perfect = [[50, 0], [0, 50]]
    result = projection({"perfect": perfect, "again": perfect, "A": A, "B": B}, method=method)
    np.testing.assert_allclose(result.points.loc[["perfect", "again"]], 0, atol=1e-6)
    assert result.distance_to_ideal["perfect"] == 0
    assert result.stress == pytest.approx(0, abs=1e-8)
    alone = projection({"perfect": perfect}, method=method)
    assert alone.stress == 0
    assert alone.exact.to_numpy().all()


@pytest.mark.parametrize("method", METHODS)
def test_one_learner_lies_on_the_axis(method: str) -> None:
    result = projection({"A": A}, method=method)
    np.testing.assert_allclose(result.points.loc["A"], [20, 0], atol=1e-8)


@pytest.mark.parametrize("distance", ["L1", "L2"])
def test_learners_on_one_ray_stay_on_it(distance: str) -> None:
    """The circles touch in one point only, which rounding must not part."""
    ray = {f"{i}": [[1000 - 7 * i, 7 * i], [3 * i, 1000 - 3 * i]] for i in range(1, 30)}
    result = projection(ray, distance=distance)
    assert result.exact.to_numpy().all()
    np.testing.assert_allclose(result.points["y"], 0, atol=1e-3)


def test_domains_are_joined_and_normalised() -> None:
    small, large = np.array([[9, 1], [2, 8]]), np.array([[900, 100], [0, 1000]])
    both = projection({"A": [small, large]}, distance="L1").distance_to_ideal["A"]
    assert both == 2 * (1 + 2) + 2 * 100
    shares = projection({"A": [small, large]}, distance="L1", normalise=True).distance_to_ideal["A"]
    assert shares == pytest.approx(2 * 3 / 20 + 2 * 100 / 2000)
    squares = projection({"A": [small, large]}, normalise=True).distance_to_ideal["A"]
    assert squares == pytest.approx(np.sqrt(2 * (1 + 4) / 400 + 2 * 100**2 / 2000**2))


def test_every_way_to_give_tables() -> None:
    expected = projection({"A": [A, B], "C": [C, A]}).frame()
    for convert in (np.array, lambda t: Confusion(np.array(t)), pd.DataFrame, lambda t: t):
        given_as = {name: [convert(t) for t in tables] for name, tables in {"A": [A, B], "C": [C, A]}.items()}
        pd.testing.assert_frame_equal(projection(given_as).frame(), expected)
    pd.testing.assert_frame_equal(projection({"A": np.array([A, B]), "C": (C, A)}).frame(), expected)
    one = projection({"A": Confusion.from_labels([0, 0, 1], [0, 1, 1]), "B": Confusion.from_labels([0, 0, 1], [0, 0, 0])})
    assert one.distance_to_ideal.tolist() == pytest.approx([np.sqrt(2), np.sqrt(2)])


def test_shown() -> None:
    result = projection({"<A>": A, "B": B})
    assert result.frame().columns.tolist() == ["x", "y", "distance_to_ideal", "parent"]
    assert result.frame().loc["Ideal"].tolist() == [0, 0, 0, ""]
    lines = str(result).splitlines()
    assert all(value in lines[0] for value in ("tree", "L2", "0.0000", "3 of 3"))
    assert lines[2].split() == ["Ideal", "0.000", "0.000", "0.000"]
    assert "&lt;A&gt;" in result._repr_html_()
    with pytest.raises(AttributeError):
        result.stress = 0


@pytest.mark.parametrize(
    ("tables", "options", "message"),
    [
        ({}, {}, "tables"),
        ([A, B], {}, "tables"),
        ({"Ideal": A}, {}, "'Ideal'"),
        ({"A": A}, {"distance": "L3"}, "distance"),
        ({"A": A}, {"method": "pca"}, "method"),
        ({"A": [[1, 2, 3], [4, 5, 6]]}, {}, "'A'"),
        ({"A": [[1, -2], [3, 4]]}, {}, "'A'"),
        ({"A": [[1, np.nan], [3, 4]]}, {}, "'A'"),
        ({"A": [[1, np.inf], [3, 4]]}, {}, "'A'"),
        ({"A": [["x", 1], [3, 4]]}, {}, "'x'"),
        ({"A": [[0, 0], [0, 0]]}, {}, "'A'"),
        ({"A": []}, {}, "'A'"),
        ({"A": np.zeros((0, 2, 2))}, {}, "'A'"),
        ({"A": np.zeros((0, 0))}, {}, r"'A'.*\(0, 0\)"),
        ({"A": Confusion(np.ones((3, 2, 2)))}, {}, r"'A'.*\(3, 2, 2\)"),
        ({"A": [A, B], "B": [A]}, {}, "'A' has 2.*'B' has 1"),
        ({"A": A, "B": ADABOOST}, {}, "0.*'A'.*'B'"),
        ({"A": [C, A], "B": [C, [[40, 11], [10, 40]]]}, {}, r"1: 'A' has \[50.0, 50.0\]"),
        ({"A": Confusion(A, ("no", "yes")), "B": Confusion(A, ("yes", "no"))}, {}, "'no'.*'yes'"),
    ],
)
def test_bad_input(tables: dict, options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        projection(tables, **options)
