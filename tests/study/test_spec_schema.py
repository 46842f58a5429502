"""Every key of a study file is used or refused: property tests over the whole schema."""

import copy
import math

import pandas as pd
import pytest
import tomli_w
from hypothesis import Phase, given, settings, strategies as st

from fairtrial.errors import SpecError
from fairtrial.study.identity import compute_learner_identity
from fairtrial.study.study import Study

UNKNOWN = "zzz_unknown"

FREE_TABLES = ("priors",)
"""Tables whose keys are classes of a data set."""

SCALER = "sklearn.preprocessing.StandardScaler"
SELECTOR = "sklearn.compose.make_column_selector"

ALTERNATIVES = {
    "standard": "none",
    "exclude": "trivial",
    "kappa": "auc",
    "accuracy": "brier",
    "iris": "wine",
    "c45": "naive-bayes",
    "svc": "linear-svc",
    "smote": "svm-smote",
    "all": "test",
    "10 min": "20 min",
    "2 GB": "3 GB",
    "number": "category",
    "category": "number",
    "random": "halving",
    "stratified": "kfold",
    "mean": "median",
    "drop": "passthrough",
    SCALER: "sklearn.preprocessing.MinMaxScaler",
}
"""Valid values to change to. Other texts become invalid."""


@st.composite
def draw_subset(draw, options, *, at_least=0):
    names = draw(st.lists(st.sampled_from(list(options)), unique=True, min_size=at_least))
    return {name: draw(options[name]) for name in names}


def table(required=None, **optional):
    """A table with all required keys and some of the optional keys."""
    return st.fixed_dictionaries(required or {}, optional=optional)


def whole(low, high):
    return st.integers(low, high)


def number(low, high):
    return st.floats(low, high, exclude_min=True, exclude_max=True).map(lambda value: float(f"{value:.3g}"))


def build_pipeline(scaler, columns, learner):
    transformers = [
        ["numbers", {"transformer": SCALER, **scaler}, {"selector": SELECTOR, "dtype_include": "number"}],
        ["names", {"transformer": "sklearn.preprocessing.OneHotEncoder", "handle_unknown": "ignore"}, ["shape"]],
    ]
    steps = [
        ["columns", {"transformer": "sklearn.compose.ColumnTransformer", "transformers": transformers, **columns}],
        ["fill", {"transformer": "sklearn.impute.SimpleImputer", "parameters": {"strategy": "mean"}}],
        ["learn", {"learner": "svc", **learner}],
    ]
    return {"learner": "sklearn.pipeline.Pipeline", "parameters": {"steps": steps}}


INNER = table({"folds": whole(2, 6)}, repeats=whole(1, 3))
SAMPLER = st.just("smote") | table({"sampler": st.just("smote")}, k_neighbors=whole(1, 9))
PARAMETERS = table({"n_neighbours": st.just([1, 3, 5])})

LEARNERS = {
    "tree": table({"learner": st.just("c45")}, parameters=table(confidence=number(0, 0.5)), sampler=SAMPLER),
    "machine": table({"learner": st.just("svc")}, preparation=st.just("none"), parameters=table(C=number(0.1, 9))),
    "searched": table(
        {
            "learner": st.just("nearest-neighbours"),
            "tune": table(
                {"grid": PARAMETERS}, search=st.just("grid"), resampling=INNER, measure=st.sampled_from(["accuracy", "kappa"])
            )
            | table({"parameters": PARAMETERS, "search": st.just("random")}, iterations=whole(1, 3), resampling=INNER),
        }
    ),
    "piped": st.builds(
        build_pipeline,
        table(with_mean=st.booleans(), with_std=st.booleans()),
        table(remainder=st.just("drop"), sparse_threshold=number(0, 1)),
        table(C=number(0.1, 9), parameters=table(gamma=number(0.1, 2))),
    ),
    "made": table(
        {
            "learner": st.just("imblearn.pipeline.make_pipeline"),
            "parameters": st.fixed_dictionaries(
                {"steps": st.tuples(table({"sampler": st.just("smote")}, k_neighbors=whole(1, 4)), st.just({"learner": "c45"}))}
            ),
        }
    ),
    "bagged": table(
        {
            "learner": st.just("bagging"),
            "parameters": table(
                {"estimator": table({"learner": st.just("c45")}, confidence=number(0, 0.5), preparation=st.just("standard"))},
                n_estimators=whole(2, 20),
            ),
        }
    ),
}

LEVELS = st.lists(number(0, 0.5), min_size=1, max_size=3, unique=True)
CONDITIONS = {
    "class-noise": LEVELS | table({"level": LEVELS}, scheme=st.just("next-class")),
    "noisy": table({"condition": st.just("attribute-noise"), "level": LEVELS}, part=st.just("all"), same_rows=st.booleans()),
    "both": table(
        {
            "condition": st.just("sequence"),
            "steps": st.tuples(
                table({"condition": st.just("class-noise"), "level": number(0, 0.5)}, scheme=st.just("next-class")),
                table({"condition": st.just("missing-values"), "level": number(0, 0.5)}),
            ),
        }
    ),
    "train-size": LEVELS | table({"level": LEVELS | st.lists(whole(5, 20), min_size=1, max_size=2, unique=True)}),
    # The levels differ from those of train-size, because two conditions that do the same are refused.
    "fewer-rows": table({"condition": st.just("train-size"), "level": st.just([0.6, 0.7])}, part=st.just("train")),
    "prior-shift": table({"priors": st.just({"setosa": 0.5, "versicolor": 0.25, "virginica": 0.25})}),
}

FOLDS = table({"scheme": st.sampled_from(["stratified", "kfold"])}, folds=whole(2, 6), repeats=whole(1, 3))
SPLITTER = table(
    {"splitter": st.just("sklearn.model_selection.ShuffleSplit"), "n_splits": whole(1, 5)},
    test_size=number(0.1, 0.5),
    name=st.just("shuffled"),
)
RESAMPLING = FOLDS | SPLITTER | st.tuples(FOLDS, SPLITTER)

VISITS = table(
    {"file": st.just("visits.csv"), "target": st.just("outcome")},
    groups=st.just("patient"),
    time=st.just("day"),
    nominal=st.just(["dose"]),
    drop=st.just(["note"]),
)

STUDIES = st.fixed_dictionaries(
    {
        "data": st.fixed_dictionaries({"sets": st.just(["iris"])}, optional={"visits": VISITS}),
        "learners": draw_subset(LEARNERS, at_least=1),
    },
    optional={
        "name": st.just("trial"),
        "seed": whole(0, 99),
        "measures": st.just(["accuracy", "kappa"]),
        "conditions": draw_subset(CONDITIONS, at_least=1),
        "resampling": RESAMPLING,
        "verdict": table(measure=st.just("kappa"), alpha=number(0.01, 0.99), rope=number(0, 0.1), failures=st.just("exclude")),
        "limits": table(time=st.just("10 min") | whole(1, 99), memory=st.just("2 GB")),
    },
)

FULL = {
    "name": "trial",
    "seed": 3,
    "measures": ["accuracy", "kappa"],
    "data": {
        "sets": ["iris"],
        "visits": {"file": "visits.csv", "target": "outcome", "groups": "patient", "time": "day", "drop": ["note"]},
        "other": {"set": "wine"},
    },
    "learners": {
        "tree": {"learner": "c45", "parameters": {"confidence": 0.2}, "sampler": {"sampler": "smote", "k_neighbors": 3}},
        "machine": {"learner": "svc", "preparation": "none", "parameters": {"C": 2.0}},
        "searched": {
            "learner": "nearest-neighbours",
            "tune": {"grid": {"n_neighbours": [1, 3]}, "resampling": {"folds": 3}, "measure": "kappa"},
        },
        "drawn": {
            "learner": "nearest-neighbours",
            "tune": {"search": "random", "parameters": {"n_neighbours": {"low": 1, "high": 9}}, "iterations": 3},
        },
        "piped": build_pipeline({"with_mean": False}, {"remainder": "drop"}, {"C": 3.0, "parameters": {"gamma": 0.5}}),
        "made": {
            "learner": "imblearn.pipeline.make_pipeline",
            "parameters": {"steps": [{"sampler": "smote", "k_neighbors": 3}, {"learner": "c45", "confidence": 0.1}]},
        },
        "bagged": {"learner": "bagging", "parameters": {"estimator": {"learner": "c45", "preparation": "standard"}}},
    },
    "conditions": {
        "class-noise": [0, 0.1],
        "noisy": {"condition": "attribute-noise", "level": [0.1], "part": "all", "same_rows": True},
        "both": {
            "condition": "sequence",
            "steps": [{"condition": "class-noise", "level": 0.2}, {"condition": "missing-values", "level": 0.3}],
        },
        "train-size": [0.2, 20],
        "fewer-rows": {"condition": "train-size", "level": [0.4], "part": "train"},
        "prior-shift": {"priors": {"setosa": 0.5, "versicolor": 0.25, "virginica": 0.25}},
    },
    "resampling": [
        {"scheme": "stratified", "folds": 4, "repeats": 2},
        {"name": "shuffled", "splitter": "sklearn.model_selection.ShuffleSplit", "n_splits": 3, "test_size": 0.2},
    ],
    "verdict": {"measure": "kappa", "control": "tree", "alpha": 0.1, "rope": 0.01, "failures": "exclude"},
    "limits": {"time": "10 min", "memory": "2 GB"},
}


@pytest.fixture(scope="module", autouse=True)
def without_code():
    """Leave the code of learners out of their hashes. Only parameters differ here, and encoding the code takes seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fairtrial.study.identity.CodeWalker.walk", lambda *_: [])
        yield


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("schema")
    rows = range(60)
    visits = {
        "patient": [f"p{row % 12}" for row in rows],
        "day": list(rows),
        "dose": [row % 7 for row in rows],
        "shape": ["round" if row % 3 else "long" for row in rows],
        "note": [row % 4 for row in rows],
        "outcome": ["ill" if row % 2 else "well" for row in rows],
    }
    pd.DataFrame(visits).to_csv(folder / "visits.csv", index=False)
    return folder


def resolve_file(folder, values):
    (folder / "study.toml").write_text(tomli_w.dumps(values))
    return Study.read(folder / "study.toml").resolve()


def describe_study(resolved):
    """Describe everything that a study file determines."""
    data = [
        (entry.name, entry.dataset.content_hash, str(entry.dataset.groups), str(entry.dataset.time)) for entry in resolved.data
    ]
    learners = [(learner.name, compute_learner_identity(learner.estimator).hash) for learner in resolved.learners]
    conditions = [(entry.name, entry.level, entry.condition.content_hash) for entry in resolved.conditions]
    schemes = [(entry.name, entry.scheme.text, entry.scheme.repeats) for entry in resolved.schemes]
    rest = (resolved.name, resolved.seed, resolved.measures, resolved.verdict, resolved.limits)
    return data, learners, conditions, schemes, rest


def list_tables(value, path=()):
    """List the paths of all tables whose keys are determined by the schema."""
    if isinstance(value, dict):
        if not path or path[-1] not in FREE_TABLES:
            yield path
        for name, item in value.items():
            yield from list_tables(item, (*path, name))
    elif isinstance(value, (list, tuple)):
        for position, item in enumerate(value):
            yield from list_tables(item, (*path, position))


def list_values(value, path=()):
    """List the paths of all values that are neither tables nor lists."""
    if isinstance(value, (dict, list, tuple)):
        for name, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from list_values(item, (*path, name))
    else:
        yield path


def get_member(values, path):
    for part in path:
        values = values[part]
    return values


def insert_key(values, path, value):
    changed = to_lists(values)
    get_member(changed, path)[UNKNOWN] = value
    return changed


def change_value(values, path):
    changed = to_lists(values)
    owner, value = get_member(changed, path[:-1]), get_member(changed, path)
    if isinstance(value, bool):
        owner[path[-1]] = not value
    elif isinstance(value, str):
        owner[path[-1]] = ALTERNATIVES.get(value, f"{value}x")
    else:
        owner[path[-1]] = value + 1 if isinstance(value, int) else math.ldexp(value, -1)
    return changed


def to_lists(value):
    """Copy a value. Tuples become lists, so their members can be changed."""
    if isinstance(value, dict):
        return {name: to_lists(item) for name, item in value.items()}
    return [to_lists(item) for item in value] if isinstance(value, (list, tuple)) else copy.copy(value)


def describe_file(folder, values):
    """Describe the study of a file, or return the text of the error."""
    try:
        return describe_study(resolve_file(folder, values))
    except SpecError as error:
        return str(error)


CHECKED = settings(max_examples=10, deadline=None, phases=(Phase.explicit, Phase.reuse, Phase.generate))


@CHECKED
@given(values=STUDIES, data=st.data())
def test_an_unknown_key_in_any_table_is_refused_by_name(folder, values, data):
    path = data.draw(st.sampled_from(list(list_tables(values))))
    value = data.draw(st.sampled_from([3, "text", {}, [1], True, {"learner": "c45x"}]))
    assert not isinstance(describe_file(folder, values), str)
    assert UNKNOWN in str(describe_file(folder, insert_key(values, path, value))), path


@CHECKED
@given(values=STUDIES, data=st.data())
def test_every_value_changes_the_study_or_is_refused(folder, values, data):
    path = data.draw(st.sampled_from(list(list_values(values))))
    assert describe_file(folder, change_value(values, path)) != describe_study(resolve_file(folder, values)), path


def select_sections(path):
    """Select one learner and the section of a path from the full study, to resolve less."""
    learner = path[1] if path[:1] == ("learners",) and len(path) > 1 else "tree"
    data = FULL["data"] if path[:1] == ("data",) else {"sets": ["iris"]}
    optional = {name: FULL[name] for name in path[:1] if name not in ("data", "learners")}
    return optional | {"data": data, "learners": {learner: FULL["learners"][learner]}}


def test_no_table_of_the_schema_accepts_an_unknown_key(folder):
    resolve_file(folder, FULL)
    for path in list_tables(FULL):
        refusal = describe_file(folder, insert_key(select_sections(path), path, 3))
        assert isinstance(refusal, str), path
        assert UNKNOWN in refusal, path


def test_every_value_of_the_schema_matters(folder):
    unchanged = {}
    for path in list_values(FULL):
        selected = select_sections(path)
        if path[:2] not in unchanged:
            unchanged[path[:2]] = describe_study(resolve_file(folder, selected))
        assert describe_file(folder, change_value(selected, path)) != unchanged[path[:2]], path
