"""Assign roles to the columns of a predictions file.

Roles that the user does not specify are guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from fairtrial._findings import Finding
from fairtrial._narrative import name_argument
from fairtrial._registry import suggest_name
from fairtrial._text import format_count, format_html_table, join_names
from fairtrial.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

ROLE_PARAMETERS = (
    "y_true",
    "prediction",
    "model",
    "scores",
    "dataset",
    "row",
    "weight",
    "cluster",
    "subgroup",
    "repeat",
    "fold",
)

# A column with such a name identifies the rows if it has no missing and no repeated values.
_ID_NAME = re.compile(
    r"(?:.+[_ .\-])?(?:id|uuid|guid|key|ref)|.*[a-z]I[dD]|(?:patient|customer|client|user|subject|question|prompt|document|doc|"
    r"file|filename|image|url|transaction|order|account|ticket|claim|passenger|record|message|review|case|visit)s?",
)

# Texts that mark a missing true label, stripped and in lower case. Texts in the second set may also be classes.
_MISSING_LABELS = frozenset({"", "?", "na", "n/a", "#n/a", "nan", "<na>"})
_POSSIBLY_MISSING_LABELS = frozenset({"null", "none", "-", "."})

# A text column contains predicted labels if at least this fraction of its cells are classes.
_MIN_KNOWN_FRACTION = 0.8

# Normalized names (see `normalize_name`) of units that often have several dependent rows.
_CLUSTER_NAMES = frozenset(
    {
        *("person", "participant", "respondent", "household", "family", "session", "visitor", "author", "speaker", "writer"),
        *("video", "scene", "slide", "device", "machine", "hospital", "school", "store", "company", "conversation", "thread"),
    }
)

_SINGLE_COLUMN_ROLES = ("y_true", "model", "dataset", "row", "weight", "cluster", "repeat", "fold", "condition", "level")

# Normalized names (see `normalize_name`). If a file contains several names of a role, the one listed first is used.
ALIASES = {
    "model": ("model", "learner", "algorithm", "classifier", "estimator", "method", "system"),
    "dataset": ("dataset", "data", "domain", "problem", "task"),
    "row": ("row", "rowid", "id", "index", "caseid", "case", "instance", "example", "sampleid", "itemid", "item"),
    "weight": ("weight", "weights", "sampleweight", "rowweight"),
    "cluster": ("cluster", "clusterid"),
    "repeat": ("repeat", "repetition", "rep", "run", "seed"),
    "fold": ("fold", "split"),
    "condition": ("condition",),
    "level": ("level",),
}

Y_TRUE_NAMES = (
    *("truth", "ytrue", "true", "truelabel", "truelabels", "trueclass", "ytest", "yval", "yactual", "actual", "actuals"),
    *("actuallabel", "actualclass", "groundtruth", "gold", "goldlabel", "target", "targets", "observed", "outcome"),
    *("correctanswer", "goldanswer", "referenceanswer", "expectedanswer", "answerkey", "correctlabel", "reference", "expected"),
    *("y", "class", "label", "labels", "diagnosis", "answer"),
)

PREDICTION_NAMES = (
    *("prediction", "predictions", "predicted", "ypred", "ypredicted", "pred", "preds", "predictedlabel", "predictedclass"),
    *("predlabel", "predclass", "yhat", "label", "predictedanswer", "modelanswer", "answer", "response", "modelresponse"),
)

# A column with one of these names says whether an answer is correct, not which label is true.
_CORRECTNESS_NAMES = ("correct", "iscorrect", "wascorrect", "correctness", "passed")

SCORE_NAMES = (
    *("score", "scores", "yscore", "prob", "proba", "probability", "p", "risk", "decision", "decisionfunction", "logit"),
    *("yprob", "yproba", "confidence", "predproba", "predprob", "predscore", "predictedproba", "predictedprob"),
    *("predictedprobability", "predictedscore", "ypredproba", "ypredprob", "phat", "prob1", "proba1", "probability1", "score1"),
    "p1",
)

MAX_SUBGROUPS = 50
"""Largest number of subgroups. A column with more values is ignored."""

SUBGROUP_NAMES = ("group", "subgroup", "segment", "sex", "gender", "race", "ethnicity", "agegroup", "region", "site")

_SCORE_WORD = r"(?:y[_ .\-]?)?(?:pred(?:icted)?[_ .\-]?)?(?:scores?|probs?|proba|probability|p|decision|logit)"

_LABEL_WORD = r"(?:y[_ .\-]?pred|prediction|predicted|pred|label|class)"

_PREDICTION_WORD = r"(?:y[_ .\-]?pred|predictions?|predicted|preds?)"

_SEPARATOR = r"[_ .\-]"

PERCENTAGE = r"\s*[-+]?\d+(?:[.,]\d+)?\s*%\s*"

_PROBABILITY_NAME = re.compile(r"(?:^|[^a-z])(?:y[_ .\-]?)?(?:probs?|proba|probability|p)(?:[^a-z0-9]|$)", re.IGNORECASE)

# Labels that mean no or yes, stripped and in lower case.
_NO_WORDS = frozenset({"0", "-1", "false", "no", "n", "f", "negative", "neg", "-"})
_YES_WORDS = frozenset({"1", "true", "yes", "y", "t", "positive", "pos", "+"})

# A short code marks the positive class only if the other class is its counterpart.
_CODE_PAIRS = frozenset({("0", "1"), ("-1", "1"), ("n", "y"), ("f", "t"), ("n", "p"), ("-", "+")})

_POSITIVE_NAMES = frozenset(
    {
        *("true", "yes", "positive", "pos", "present", "event", "case", "hit", "target", "success"),
        *("fraud", "fraudulent", "scam", "phishing", "malware", "malicious", "attack", "intrusion", "spam", "toxic", "hate"),
        *("churn", "churned", "default", "defaulted", "delinquent", "bankrupt", "cancelled", "canceled", "attrition", "left"),
        *("malignant", "cancer", "tumor", "tumour", "disease", "diseased", "ill", "sick", "infected", "diabetic", "pregnant"),
        *("dead", "died", "death", "deceased", "relapse", "recurrence", "readmitted"),
        *("anomaly", "anomalous", "abnormal", "outlier", "defect", "defective", "faulty", "failure", "failed", "fail"),
        *("clicked", "click", "converted", "conversion", "purchased", "purchase", "bought", "subscribed"),
    }
)

_NEGATIVE_NAMES = frozenset(
    {
        *("false", "no", "negative", "neg", "absent", "none", "control", "legit", "legitimate", "genuine", "normal", "benign"),
        *("healthy", "well", "ham", "retained", "stayed", "paid", "alive", "inlier", "clean", "ok"),
    }
)


_ROLE_TEXTS = {
    "model": "models",
    "dataset": "data sets",
    "row": "row ids",
    "weight": "weights",
    "cluster": "clusters",
    "repeat": "repeats",
    "fold": "folds",
    "condition": "conditions",
    "level": "noise levels",
}


@dataclass(frozen=True)
class ModelColumns:
    """The columns of one model.

    Attributes
    ----------
    name : str
        Name of the model. Empty if a column contains the model names.
    label : str or None
        Column of predicted labels.
    scores : tuple of (str or None, str)
        Pairs of a class and its score column. None stands for the positive class.
    """

    name: str
    label: str | None
    scores: tuple[tuple[str | None, str], ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of the model."""
        return (*((self.label,) if self.label is not None else ()), *(column for _, column in self.scores))


@dataclass(frozen=True)
class Roles:
    """The roles of the columns in a predictions file.

    Attributes
    ----------
    layout : {"long", "wide"}
        Whether the file has one line per row and model, or one line per row.
    columns : mapping of str to str
        Column of each role: y_true, model, dataset, row, weight, cluster, repeat, fold, condition, level.
    models : tuple of ModelColumns
        Columns of each model. If a column contains the model names, there is a single entry without a name.
    subgroups : tuple of str
        Columns that define subgroups.
    specified : tuple of str
        Roles that the user specified. All others were guessed.
    unused : tuple of str
        Columns without a role.
    reasons : tuple of Finding
        Findings about unused columns that seem to contain predictions or cluster ids.
    missing_labels : tuple of str
        Strings that mark a missing true label, such as "?".
    """

    layout: Literal["long", "wide"]
    columns: Mapping[str, str]
    models: tuple[ModelColumns, ...]
    subgroups: tuple[str, ...] = ()
    specified: tuple[str, ...] = ()
    unused: tuple[str, ...] = ()
    reasons: tuple[Finding, ...] = ()
    missing_labels: tuple[str, ...] = ()

    def get(self, role: str) -> str | None:
        """Return the column of a role, or None if no column has this role."""
        return self.columns.get(role)

    def list_columns(self, *roles: str) -> list[str]:
        """List the columns of the given roles. Roles without a column are omitted."""
        return [self.columns[role] for role in roles if role in self.columns]

    @property
    def used_columns(self) -> tuple[str, ...]:
        """All columns with a role."""
        model_columns = [column for model_columns in self.models for column in model_columns.columns]
        return tuple(dict.fromkeys([*self.columns.values(), *self.subgroups, *model_columns]))

    def frame(self) -> pd.DataFrame:
        """Build a data frame with the role, model and class of each column.

        The column `how` states whether the user specified the role ("given") or it was guessed.
        """
        import pandas as pd

        lines = [(column, role, "", "") for role, column in self.columns.items()]
        for model_columns in self.models:
            lines += [(model_columns.label, "prediction", model_columns.name, "")] if model_columns.label is not None else []
            lines += [(column, "score", model_columns.name, name or "positive") for name, column in model_columns.scores]
        lines += [(column, "subgroup", "", "") for column in self.subgroups]
        role_parameters = {"score": "scores"}
        table = [(*line, "given" if role_parameters.get(line[1], line[1]) in self.specified else "guessed") for line in lines]
        table += [(column, "unused", "", "", "guessed") for column in self.unused]
        return pd.DataFrame(table, columns=["column", "role", "model", "class", "how"])

    @property
    def scored_class(self) -> str | None:
        """The class named by score columns such as `p_fraud`, or None if the class is not unique.

        Only models with a single score column are considered.
        """
        names = {model_columns.scores[0][0] for model_columns in self.models if len(model_columns.scores) == 1} - {None}
        return names.pop() if len(names) == 1 else None

    @property
    def summary(self) -> str:
        """A one-line summary of the used columns and their roles.

        >>> models = tuple(ModelColumns(name, None, ((None, f"{name}_proba"),)) for name in ("tree", "forest"))
        >>> Roles("wide", {"y_true": "churned"}, models).summary
        'true labels churned, probabilities *_proba'
        """
        labels = [(model_columns.name, model_columns.label) for model_columns in self.models if model_columns.label is not None]
        scores = [(model_columns.name, column) for model_columns in self.models for _, column in model_columns.scores]
        are_probabilities = all(is_named_probability(column) for _, column in scores)
        columns = {
            "true labels": [("", self.columns["y_true"])],
            "predicted labels": labels,
            "probabilities" if are_probabilities else "scores": scores,
            **{text: [("", self.columns[role])] for role, text in _ROLE_TEXTS.items() if role in self.columns},
            "subgroups": [("", column) for column in self.subgroups],
        }
        return ", ".join(f"{text} {_abbreviate_columns(pairs)}" for text, pairs in columns.items() if pairs)

    def __str__(self) -> str:
        return self.summary

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.summary)}</p>" + format_html_table(self.frame())


def _abbreviate_columns(columns: Sequence[tuple[str, str]]) -> str:
    """List columns in short form, with an asterisk in place of several model or class names.

    >>> _abbreviate_columns([("tree", "tree_p"), ("svm", "svm_p")]), _abbreviate_columns([("tree", "tree"), ("svm", "svm")])
    ('*_p', 'tree and svm')
    >>> _abbreviate_columns([("", f"score[{name}]") for name in "abcde"])
    'score[*]'
    """
    stems = {name.partition("[")[0] for _, name in columns if name.endswith("]")}
    if len(columns) > 3 and len(stems) == 1 and all(name.endswith("]") for _, name in columns):
        return f"{stems.pop()}[*]"
    patterns = [f"*{column.removeprefix(model)}" if model and column.startswith(model) else column for model, column in columns]
    has_pattern = len(set(patterns)) < len(patterns) and "*" not in patterns
    return join_names(dict.fromkeys(patterns) if has_pattern else [column for _, column in columns], 4)


def guess_roles(frame: pd.DataFrame, *, positive: object = None, **specified: Any) -> Roles:
    """Guess the role of each column in a table of predictions. Roles in `specified` are kept.

    `frame` may contain only the first rows of the table. If `positive` is given, this label never counts as missing.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"y_true": ["a", "b"], "tree": ["a", "a"], "tree_p": [0.2, 0.4], "forest": ["a", "b"]})
    >>> print(guess_roles(table).frame().to_string(index=False))
    column       role  model    class     how
    y_true     y_true                 guessed
      tree prediction   tree          guessed
    tree_p      score   tree positive guessed
    forest prediction forest          guessed
    """
    names = [str(name) for name in frame.columns]
    specified = {role: value for role, value in specified.items() if value is not None}
    _check_roles(names, specified)
    columns = {role: str(specified[role]) for role in _SINGLE_COLUMN_ROLES if role in specified}
    subgroups = _to_list(specified["subgroup"]) if "subgroup" in specified else []
    used_columns = {
        *columns.values(),
        *subgroups,
        *_list_columns(specified.get("prediction")),
        *_list_columns(specified.get("scores")),
    }
    _assign_by_name(names, columns, used_columns)
    if "y_true" not in columns:
        columns["y_true"] = _find_y_true(frame, names, used_columns)
    used_columns.update(columns.values())
    if "row" not in columns:
        _assign_row_ids(frame, [name for name in names if name not in used_columns], columns)
        used_columns.update(columns.values())
    if "subgroup" not in specified:
        subgroups = [name for name in names if name not in used_columns and normalize_name(name) in SUBGROUP_NAMES]
        used_columns.update(subgroups)
    free = [name for name in names if name not in used_columns]
    missing_labels = find_missing_labels(frame, columns["y_true"], free, positive)
    classes = [label for label in format_labels(frame[columns["y_true"]]) if label not in missing_labels]
    models = _find_models(frame, free, classes, columns, specified)
    if "subgroup" in specified and "prediction" not in specified and "scores" not in specified:
        _check_subgroups(frame, subgroups, free, classes)
    used = {*used_columns, *(column for model_columns in models for column in model_columns.columns)}
    unused = tuple(name for name in names if name not in used)
    if not models:
        check_misspelled(frame, free, classes, columns["y_true"])
        if normalize_name(columns["y_true"]) in _CORRECTNESS_NAMES:
            raise InputError(
                f"the file must have true and predicted labels, got column {columns['y_true']!r}, which only says whether an "
                "answer is correct: add the labels, or compare two such columns in Python with "
                "fairtrial.significance.mcnemar([1] * n, first, second)"
            )
        _check_other_labels(frame, free, classes, columns["y_true"])
        if "model" in columns and _is_fraction(frame[columns["model"]]):
            raise InputError(
                f"the column of model names must contain names, got numbers in {columns['model']!r}: if they are scores, pass "
                f"{name_argument('scores', columns['model'])}"
            )
        raise InputError(
            f"the file must have predicted labels or scores besides the true labels {columns['y_true']!r}, got only "
            f"{', '.join(map(repr, free)) or 'that column'}: pass {name_argument('prediction', 'COLUMN')} or "
            f"{name_argument('scores', 'COLUMN')}"
        )
    layout: Literal["long", "wide"] = "wide" if models[0].name else "long"
    ordered = {role: columns[role] for role in _SINGLE_COLUMN_ROLES if role in columns}
    is_specified = "prediction" in specified or "scores" in specified
    reasons = () if is_specified else explain_unused(frame, unused, classes, _has_unnamed_scores(models))
    if is_specified and "model" not in columns and len(models) == 1:
        reasons = find_unnamed_models(frame, unused, classes, models[0])
    reasons = (*find_undeclared_clusters(frame, unused, ordered), *reasons)
    return Roles(layout, ordered, models, tuple(subgroups), tuple(specified), unused, reasons, missing_labels)


def _check_roles(names: list[str], specified: Mapping[str, Any]) -> None:
    for role, value in specified.items():
        if role not in ROLE_PARAMETERS:
            raise InputError(f"{role!r} is not a role of a column: {suggest_name(role, ROLE_PARAMETERS)}")
        for column in _list_columns(value):
            if column not in names:
                parts = [part.strip() for part in column.split(",")]
                if role == "subgroup" and set(parts) <= set(names):
                    remedy = name_argument("subgroup", "COLUMNS", " --subgroup ".join(parts)).replace("COLUMNS", repr(parts))
                    raise InputError(f"subgroup must name a column of the file, got {column!r}: pass {remedy}")
                argument = name_argument(role, "COLUMN")
                raise InputError(f"{argument} must name a column of the file, got {column!r}: {suggest_name(column, names)}")


def _check_subgroups(frame: pd.DataFrame, subgroups: list[str], free: list[str], classes: list[str]) -> None:
    """Reject a subgroup column that looks like model scores and has too many distinct values."""
    for column in subgroups:
        others = [name for name in map(str, frame.columns) if name in free or name == column]
        scores = {name for model in find_wide_models(frame, others, classes) for _, name in model.scores}
        if column in scores and frame[column].nunique() > MAX_SUBGROUPS:
            raise InputError(
                f"subgroup must not name a column of scores, got {column!r}, which belongs to a model: name another column"
            )


def _list_columns(value: Any) -> list[str]:
    """List the columns in an argument: a string, a list, a mapping or a mapping of mappings."""
    if value is None:
        return []
    if isinstance(value, Mapping):
        return [column for nested in value.values() for column in _list_columns(nested)]
    return _to_list(value)


def _to_list(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, Sequence) and not isinstance(value, str) else [str(value)]


def _assign_by_name(names: list[str], columns: dict[str, str], used_columns: set[str]) -> None:
    """Assign the roles that can be inferred from column names alone."""
    for role, aliases in ALIASES.items():
        if role not in columns:
            match = next(
                (name for alias in aliases for name in names if name not in used_columns and normalize_name(name) == alias),
                None,
            )
            if match is not None:
                columns[role] = match
                used_columns.add(match)


def _find_y_true(frame: pd.DataFrame, names: list[str], used_columns: set[str]) -> str:
    """Find the column of true labels by name.

    If no name matches, use the only binary column that does not look like predictions.
    """
    for alias in Y_TRUE_NAMES:
        for name in names:
            if name not in used_columns and normalize_name(name) == alias:
                return name
    binary = [name for name in names if name not in used_columns and _may_be_y_true(frame[name])]
    if len(binary) == 1:
        return binary[0]
    raise InputError(
        f"the file must have a column of true labels, e.g. y_true or target, got {', '.join(names)}: pass "
        f"{name_argument('y_true', 'COLUMN')}"
    )


def find_missing_labels(frame: pd.DataFrame, y_true: str, free: Sequence[str], positive: object = None) -> tuple[str, ...]:
    """Find the strings that mark a missing true label, such as "?".

    A label such as "none" counts as a class if it is predicted or has a score column. It also counts as a class if there are
    fewer than two other classes.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"y": ["cat", "?", "none", "dog"], "tree": ["cat", "dog", "none", "dog"]})
    >>> find_missing_labels(table, "y", ["tree"])
    ('?',)
    """
    labels = format_labels(frame[y_true])
    folded = {label: _fold_case(label) for label in labels if positive is None or label != str(positive)}
    missing = [label for label, text in folded.items() if text in _MISSING_LABELS]
    possible = [label for label, text in folded.items() if text in _POSSIBLY_MISSING_LABELS]
    if not possible or len(labels) - len(missing) - len(possible) < 2:
        return tuple(missing)
    predicted = {label for column in free if not _is_number(frame[column]) for label in format_labels(frame[column])}
    scored = {label for label in possible if any(_parse_column_name(column, [label])[2] for column in free)}
    return (*missing, *(label for label in possible if label not in predicted | scored))


def _assign_row_ids(frame: pd.DataFrame, free: list[str], columns: dict[str, str]) -> None:
    """Assign the row role to a column with an id-like name and unique values.

    Values need to be unique only within each model and split.
    """
    candidates = [name for name in free if is_id_name(name) and not _is_fraction(frame[name])]
    if not candidates:
        return
    keys = [columns[role] for role in ("dataset", "model", "repeat", "fold", "condition", "level") if role in columns]
    # The sample of a streamed file ends with lines in which only the true label is filled in.
    complete = frame.dropna(subset=[*keys, *free], how="all")
    for name in candidates:
        if complete[name].notna().all():
            n_repeated = int(complete.duplicated([*keys, name]).sum())
            # Lines that are identical in all columns are duplicates, not different rows with the same id.
            if not n_repeated or (n_repeated < len(complete) / 2 and n_repeated == int(complete.duplicated().sum())):
                columns["row"] = name
                return


def is_id_name(name: str) -> bool:
    """Return whether a column name suggests identifiers.

    >>> [is_id_name(name) for name in ("customer_id", "patientId", "url", "humid", "size")]
    [True, True, True, False, False]
    """
    return _ID_NAME.fullmatch(name) is not None or _ID_NAME.fullmatch(name.lower()) is not None


def _may_be_y_true(column: pd.Series[Any]) -> bool:
    name = str(column.name)
    is_prediction = is_named_prediction(name) or _parse_column_name(name, [])[1] or normalize_name(name) in SUBGROUP_NAMES
    labels = [label for label in format_labels(column) if _fold_case(label) not in _MISSING_LABELS]
    is_coded = not _is_number(column) or {*labels} in ({"0", "1"}, {"-1", "1"}, {"1", "2"})
    return not is_prediction and is_coded and len(labels) == 2


def _find_models(
    frame: pd.DataFrame, free: list[str], classes: list[str], columns: Mapping[str, str], specified: Mapping[str, Any]
) -> tuple[ModelColumns, ...]:
    prediction, scores = specified.get("prediction"), specified.get("scores")
    by_model = _is_by_model(prediction, classes) or _is_by_model(scores, classes)
    if "model" not in columns and (by_model or (isinstance(prediction, Sequence) and not isinstance(prediction, str))):
        return _build_wide_models(prediction, scores, classes)
    if "model" not in columns and prediction is None and _are_models(scores, classes):
        return _build_wide_models(None, {column: column for column in _to_list(scores)}, classes)
    label = _require_one_column(prediction, "prediction") if prediction is not None else _find_label_column(free)
    score_columns = (
        _resolve_score_columns(scores, classes)
        if scores is not None
        else _find_score_columns([name for name in free if name != label], classes)
    )
    if prediction is None and label is not None and _is_fraction(frame[label]):
        # A column such as pred may contain probabilities.
        score_columns = score_columns or ((None, label),)
        label = None
    is_specified = "model" in columns or prediction is not None or scores is not None
    # A model may be called y. In this case, y_score belongs to this model, and other columns belong to other models.
    several = not is_specified and label is None and len(score_columns) == 1 and len(find_wide_models(frame, free, classes)) > 1
    if is_specified or label is not None or (score_columns and not several):
        return (ModelColumns("", label, score_columns),) if label is not None or score_columns else ()
    return find_wide_models(frame, free, classes)


def _are_models(scores: Any, classes: list[str]) -> bool:
    """Return whether `scores` lists columns of different models, i.e. several columns, none of which names a class."""
    if scores is None or isinstance(scores, (str, Mapping)):
        return False
    names = _to_list(scores)
    return len(names) > 1 and not any(name in classes or find_score_class(name, classes) for name in names)


def _is_by_model(value: Any, classes: list[str]) -> bool:
    """Return whether the value is a mapping with models, not classes, as keys."""
    if not isinstance(value, Mapping):
        return False
    return any(isinstance(item, Mapping) for item in value.values()) or not {str(key) for key in value} <= set(classes)


def _build_wide_models(prediction: Any, scores: Any, classes: list[str]) -> tuple[ModelColumns, ...]:
    labels = dict(prediction) if isinstance(prediction, Mapping) else {name: name for name in _list_columns(prediction)}
    by_model = dict(scores) if isinstance(scores, Mapping) else {name: name for name in _list_columns(scores)}
    names = list(dict.fromkeys([*map(str, labels), *map(str, by_model)]))
    texts = {str(name): str(column) for name, column in labels.items()}
    scores_by_model = {str(name): _resolve_score_columns(value, classes) for name, value in by_model.items()}
    return tuple(ModelColumns(name, texts.get(name), scores_by_model.get(name, ())) for name in names)


def _resolve_score_columns(value: Any, classes: list[str]) -> tuple[tuple[str | None, str], ...]:
    """Pair each score column with its class.

    If a single column does not name its class, the class is None. None stands for the positive class.
    """
    if isinstance(value, Mapping):
        return tuple((str(name), str(column)) for name, column in value.items())
    columns = _to_list(value)
    class_columns = [(column if column in classes else find_score_class(column, classes), column) for column in columns]
    if len(columns) > 1 and any(name is None for name, _ in class_columns):
        unclear = next(column for name, column in class_columns if name is None)
        raise InputError(
            f"scores must name the class or the model of each column, got {unclear!r}: pass "
            f"{name_argument('scores', 'MAPPING', 'CLASS=COLUMN')}, or in a wide file "
            f"{name_argument('scores', 'MAPPING', 'MODEL=COLUMN')}"
        )
    return tuple(class_columns)


def _require_one_column(value: Any, role: str) -> str:
    columns = _list_columns(value)
    if len(columns) != 1:
        raise InputError(f"{role} must name one column if a column names the models, got {columns}")
    return columns[0]


def _find_label_column(free: list[str]) -> str | None:
    return next((name for alias in PREDICTION_NAMES for name in free if normalize_name(name) == alias), None)


def _find_score_columns(free: list[str], classes: list[str]) -> tuple[tuple[str | None, str], ...]:
    score_columns: list[tuple[str | None, str]] = []
    for name in free:
        score_class = find_score_class(name, classes)
        if score_class is not None:
            score_columns.append((score_class, name))
    if not score_columns:
        return tuple((None, name) for name in free if normalize_name(name) in SCORE_NAMES)[:1]
    return tuple(score_columns)


def find_wide_models(frame: pd.DataFrame, free: list[str], classes: list[str]) -> tuple[ModelColumns, ...]:
    """Find the models in a wide file from column names, and then from columns that contain class labels.

    If no models are found, columns of fractional numbers are treated as scores. If some of these columns contain only values
    between 0 and 1, the other columns are ignored.
    """
    labels: dict[str, str] = {}
    scores: dict[str, dict[str | None, str]] = {}
    rest = []
    for column in free:
        model, kind, name = _parse_column_name(column, classes)
        if kind == "label" and _is_fraction(frame[column]):
            kind = "score" if model not in scores else ""
        if kind == "score" and _is_number(frame[column]):
            scores.setdefault(model, {})[name] = column
        elif kind == "label" and _has_shared_classes(format_labels(frame[column]), classes):
            labels[model] = column
        elif kind == "label":
            _check_prediction_column(frame[column], model, classes)
            rest.append(column)
        elif kind == "score" and not _has_only_classes(frame[column], classes):
            check_score_column(frame[column], model)
            rest.append(column)
        else:
            rest.append(column)
    rest = _match_class_suffixes(frame, rest, classes, scores)
    for column in rest:
        if _has_mostly_classes(frame[column], classes):
            labels.setdefault(column, column)
    if not labels and not scores:
        numeric = [column for column in rest if _is_fraction(frame[column])]
        probabilities = [column for column in numeric if _is_within_unit_interval(frame[column])]
        # If some columns contain probabilities, other numeric columns (such as amounts) are attributes.
        scores = {column: {None: column} for column in probabilities or numeric}
    positions = {column: index for index, column in enumerate(free)}
    names = sorted(
        {*labels, *scores}, key=lambda model: min(positions[column] for column in _list_model_columns(model, labels, scores))
    )
    return tuple(ModelColumns(name, labels.get(name), tuple(scores.get(name, {}).items())) for name in names)


def _has_unnamed_scores(models: Sequence[ModelColumns]) -> bool:
    """Return whether score columns were recognized only by their values. Such columns have the same name as their model."""
    return any(column == model_columns.name for model_columns in models for _, column in model_columns.scores)


def _list_model_columns(model: str, labels: dict[str, str], scores: dict[str, dict[str | None, str]]) -> list[str]:
    return [*([labels[model]] if model in labels else []), *scores.get(model, {}).values()]


def _parse_column_name(column: str, classes: list[str]) -> tuple[str, str, str | None]:
    """Split a column name into model, kind ("score", "label" or "") and class."""
    bracket = re.fullmatch(rf"(.+?)(?:{_SEPARATOR}{_SCORE_WORD})?{_SEPARATOR}?[\[(](.+)[\])]", column, re.IGNORECASE)
    if bracket and _match_class(bracket[2], classes):
        return bracket[1], "score", _match_class(bracket[2], classes)
    both = re.fullmatch(rf"(.+?){_SEPARATOR}{_SCORE_WORD}{_SEPARATOR}(.+)", column, re.IGNORECASE)
    if both and _match_class(both[2], classes):
        return both[1], "score", _match_class(both[2], classes)
    for name in classes:
        if not name.isdigit():  # model_1_proba is a score of model_1
            for pattern in (
                rf"(.+){_SEPARATOR}{re.escape(name)}{_SEPARATOR}{_SCORE_WORD}",
                rf"{_SCORE_WORD}{_SEPARATOR}{re.escape(name)}{_SEPARATOR}(.+)",
            ):
                match = re.fullmatch(pattern, column, re.IGNORECASE)
                if match:
                    return match[1], "score", name
    one = rf"(?:{_SEPARATOR}?1)?" if len(classes) == 2 else ""
    for pattern, kind in (
        (rf"(.+?){_SEPARATOR}{_SCORE_WORD}{one}", "score"),
        (rf"(.+){_SEPARATOR}{_LABEL_WORD}", "label"),
        (rf"{_SCORE_WORD}{_SEPARATOR}(.+)", "score"),
        (rf"{_LABEL_WORD}{_SEPARATOR}(.+)", "label"),
    ):
        match = re.fullmatch(pattern, column, re.IGNORECASE)
        if match:
            return match[1], kind, None
    return column, "", None


def _match_class_suffixes(
    frame: pd.DataFrame, rest: list[str], classes: list[str], scores: dict[str, dict[str | None, str]]
) -> list[str]:
    """Treat forest_a, forest_b ... as scores of one model if there is such a column for each class.

    Return the remaining columns.
    """
    stems: dict[str, dict[str | None, str]] = {}
    for column in rest:
        for name in classes:
            if re.fullmatch(rf".+{_SEPARATOR}{re.escape(name)}", column) and _is_number(frame[column]):
                stems.setdefault(column[: -len(name) - 1], {})[name] = column
    complete = {stem: columns for stem, columns in stems.items() if len(columns) == len(classes)}
    for stem, columns in complete.items():
        scores.setdefault(stem, {}).update(columns)
    used = {column for columns in complete.values() for column in columns.values()}
    return [column for column in rest if column not in used]


def find_score_class(column: str, classes: Sequence[str]) -> str | None:
    """Extract the class from the name of a score column such as score_a, p_a, proba(a) or prob a.

    Text in square brackets, as in score[a], is taken as a class even if no such class is known.

    >>> find_score_class("Proba_yes", ["no", "yes"]), find_score_class("score[c]", ["a"]), find_score_class("score_c", ["a"])
    ('yes', 'c', None)
    """
    bracket = re.fullmatch(rf"{_SCORE_WORD}{_SEPARATOR}?\[(.+)\]", column, re.IGNORECASE)
    if bracket:
        return _match_class(bracket[1], classes) or bracket[1]
    for pattern in (
        rf"{_SCORE_WORD}{_SEPARATOR}?\((.+)\)",
        rf"{_SCORE_WORD}{_SEPARATOR}(.+)",
        rf"(.+){_SEPARATOR}{_SCORE_WORD}",
    ):
        match = re.fullmatch(pattern, column, re.IGNORECASE)
        if match and _match_class(match[1], classes):
            return _match_class(match[1], classes)
    return None


def _match_class(name: str, classes: Sequence[str]) -> str | None:
    if name in classes:
        return name
    same_letters = next((label for label in classes if label.lower() == name.lower()), None)
    is_answer = name.isdigit() or len(name) > 1  # a single letter may be part of a name such as y_score
    return same_letters or (find_duplicate_labels([name], classes).get(name) if is_answer else None)


def _is_number(column: pd.Series[Any]) -> bool:
    return column.dtype.kind in "iuf"


def _is_fraction(column: pd.Series[Any]) -> bool:
    """Return whether a column contains numbers with a fractional part."""
    if not _is_number(column):
        return False
    values = column.dropna().to_numpy(dtype=float)
    return bool(len(values) and (values != np.floor(values)).any())


def _is_within_unit_interval(column: pd.Series[Any]) -> bool:
    return bool(column.dropna().between(0, 1).all())


def _has_only_classes(column: pd.Series[Any], classes: list[str]) -> bool:
    if _is_fraction(column):
        return False
    labels = format_labels(column)
    return bool(labels) and set(labels) <= {*classes, *find_duplicate_labels(labels, classes)}


def _has_mostly_classes(column: pd.Series[Any], classes: list[str]) -> bool:
    """Return whether all cells of a column, or most cells of a text column, contain class labels.

    Other texts in such a column, e.g. refusals to answer, count as errors.
    """
    if _has_only_classes(column, classes):
        return True
    labels = [] if _is_number(column) else format_labels(column)
    known = {label for label in labels if label in classes} | set(find_duplicate_labels(labels, classes))
    if len(known) < min(2, len(classes)):
        return False
    return bool(column.dropna().map(format_label).isin(known).mean() >= _MIN_KNOWN_FRACTION)


def _has_shared_classes(labels: Sequence[str], classes: Sequence[str]) -> bool:
    return bool(set(labels) & set(classes) or (labels and find_duplicate_labels(labels, classes)))


def check_score_column(column: pd.Series[Any], model: str) -> None:
    """Reject a column of text if its name suggests model scores.

    Without this check, a single text cell would exclude the model. If the name only begins with a word for scores, as in
    decision_notes, a column without numbers is accepted.
    """
    import pandas as pd

    present = column[column.notna()]
    numbers = pd.to_numeric(present.astype(str), errors="coerce")
    suffix = re.fullmatch(rf"(.+){_SEPARATOR}{_SCORE_WORD}|.+[\[(].+[\])]", str(column.name), re.IGNORECASE)
    if not len(present) or (suffix is None and numbers.isna().all()):
        return
    bad = numbers.isna()
    index = int(bad.to_numpy().argmax()) if bad.any() else 0
    line = present.index[index]
    raise InputError(
        f"scores of model {model!r} must be numbers, got {present.iloc[index]!r} in column {column.name!r}, line {line} "
        f"({format_count(int(bad.sum()), 'such line')}): correct it, or rename the column if it does not contain scores"
    )


def _check_prediction_column(column: pd.Series[Any], model: str, classes: Sequence[str]) -> None:
    """Reject a column whose name suggests predicted labels if it contains none of the true labels."""
    labels = format_labels(column)
    name = str(column.name)
    is_named = re.fullmatch(rf"(.+){_SEPARATOR}{_PREDICTION_WORD}|{_PREDICTION_WORD}{_SEPARATOR}(.+)", name, re.IGNORECASE)
    if is_named and 0 < len(labels) <= len(classes):
        raise InputError(
            f"predicted labels of model {model!r} must be labels of y_true ({join_names(classes, 6)}), got {labels[0]!r} in "
            f"column {name!r}: convert the labels, or rename the column if it does not contain predicted labels"
        )


def is_named_prediction(column: str) -> bool:
    """Return whether a column name suggests predicted labels or scores.

    >>> [is_named_prediction(name) for name in ("svm_proba", "pred_svm", "y_hat", "score_time", "size")]
    [True, True, True, False, False]
    """
    words = rf"(?:{_PREDICTION_WORD}|{_SCORE_WORD})"
    pattern = rf"(?:(.+){_SEPARATOR})?{words}(?:{_SEPARATOR}?\d+)?|{_PREDICTION_WORD}{_SEPARATOR}(.+)|prob[a-z]*{_SEPARATOR}.+"
    return bool(re.fullmatch(pattern, column, re.IGNORECASE)) or normalize_name(column) in (*PREDICTION_NAMES, *SCORE_NAMES)


def check_misspelled(frame: pd.DataFrame, free: Sequence[str], classes: Sequence[str], y_true: str) -> None:
    """Reject a text column that seems to contain predicted labels with a misspelled label."""
    for column in free:
        labels = format_labels(frame[column]) if frame[column].dtype.kind not in "iuf" else []
        unknown = [label for label in labels if label not in classes]
        folded = {label.lower() for label in classes} & {label.lower() for label in labels}
        if unknown and folded:
            raise InputError(
                f"predicted labels must be labels of {y_true!r} ({join_names(classes, 6)}), got {unknown[0]!r} in column "
                f"{column!r}: {suggest_name(unknown[0], classes)}, or pass {name_argument('prediction', column)} to count it "
                "as an error"
            )


def _check_other_labels(frame: pd.DataFrame, free: Sequence[str], classes: Sequence[str], y_true: str) -> None:
    """Reject a column with few distinct values, none of which is a class.

    Such a column probably encodes the classes differently.
    """
    for column in free:
        labels = format_labels(frame[column])
        if 2 <= len(labels) <= len(classes) and not set(labels) & set(classes):
            raise InputError(
                f"predicted labels must be labels of {y_true!r} ({join_names(classes, 6)}), got {join_names(labels, 6)} in "
                f"column {column!r}: convert the labels, or pass {name_argument('prediction', 'COLUMN')} to name another column"
            )


def find_undeclared_clusters(frame: pd.DataFrame, unused: Sequence[str], columns: Mapping[str, str]) -> tuple[Finding, ...]:
    """Find an unused column with an id-like name and repeated values, i.e. possible clusters.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"patient": ["p1", "p1", "p2", "p3"], "age": [60, 60, 70, 70]})
    >>> [(finding["column"], finding["values"], finding["rows"]) for finding in find_undeclared_clusters(table, table, {})]
    [('patient', 3, 4)]
    """
    if "cluster" in columns:
        return ()
    keys = [columns[role] for role in ("dataset", "model", "repeat", "fold", "condition", "level") if role in columns]
    first = frame[(frame[keys] == frame[keys].iloc[0]).all(axis=1)] if keys and len(frame) else frame
    for column in unused:
        present = first[column].dropna()
        n_values = present.nunique()
        if (is_id_name(column) or normalize_name(column) in _CLUSTER_NAMES) and 1 < n_values < len(present):
            return (Finding.of("undeclared_clusters", column=column, values=n_values, rows=len(present)),)
    return ()


def explain_unused(
    frame: pd.DataFrame, unused: Sequence[str], classes: Sequence[str], has_unnamed_scores: bool = False
) -> tuple[Finding, ...]:
    """Explain why columns that seem to contain labels or scores are not used.

    `has_unnamed_scores` is true if score columns were recognized by their values, not by their names.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"svm": ["yes", "no", "maybe"], "colour": ["red", "blue", "red"], "again": ["yes", "no", "no"]})
    >>> [(finding.kind, finding["column"]) for finding in explain_unused(table, ["svm", "colour", "again"], ["yes", "no"])]
    [('unused_unknown_label', 'svm'), ('unused_second_labels', 'again')]
    """
    findings = []
    probabilities: list[str] = []
    numbers: list[str] = []
    for column in unused:
        if is_named_prediction(column):
            findings.append(Finding.of("unused_prediction", column=column))
            continue
        if _is_fraction(frame[column]):
            (probabilities if _is_within_unit_interval(frame[column]) else numbers).append(column)
            continue
        text = _find_text_among_numbers(frame[column])
        if text is not None:
            findings.append(Finding.of("unused_text", column=column, text=text))
            continue
        labels = format_labels(frame[column])
        unknown = [label for label in labels if label not in classes]
        n_known = len(labels) - len(unknown)
        if n_known and not unknown:
            findings.append(Finding.of("unused_second_labels", column=column))
        elif n_known and len(unknown) <= n_known:
            findings.append(Finding.of("unused_unknown_label", column=column, label=unknown[0]))
    if probabilities:
        findings.append(Finding.of("unused_probabilities", columns=tuple(probabilities)))
    score_like = [column for column in numbers if has_unnamed_scores or _suggests_percentages(column, classes)]
    if score_like:
        findings.append(Finding.of("unused_numbers", columns=tuple(score_like)))
    return tuple(findings)


def _suggests_percentages(name: str, classes: Iterable[str]) -> bool:
    """Return whether a column name contains a percent sign or the name of a class as a separate word.

    >>> [_suggests_percentages(name, ["ham", "spam"]) for name in ("bayes spam", "bayes %", "hamster", "age")]
    [True, True, False, False]
    """
    words = re.findall(r"[^\W\d_]+", name.lower())
    return "%" in name or any(class_name.lower() in words for class_name in classes)


def _find_text_among_numbers(column: pd.Series[Any]) -> str | None:
    """Find a text cell in a column of mostly fractional numbers or percentages. Return None for other columns."""
    import pandas as pd

    if _is_number(column) or column.dtype.kind == "b":
        return None
    texts = column.dropna().astype(str)
    is_number = pd.to_numeric(texts.str.strip().str.removesuffix("%"), errors="coerce").notna()
    has_fraction = texts[is_number].str.contains(r"[.%]").any()
    if not len(texts) or is_number.mean() < _MIN_KNOWN_FRACTION or not has_fraction:
        return None
    is_odd = ~is_number if not is_number.all() else texts.str.contains("%")
    return str(texts[is_odd].iloc[0]) if is_odd.any() else str(texts.iloc[0])


def find_unnamed_models(
    frame: pd.DataFrame, unused: Sequence[str], classes: list[str], model: ModelColumns
) -> tuple[Finding, ...]:
    """Find columns that look like predictions of other models if the user named the columns of only one model."""
    if model.label is not None:
        columns = [name for name in unused if _has_mostly_classes(frame[name], classes)]
        return (Finding.of("unnamed_labels", columns=tuple(columns)),) if columns else ()
    numeric = [name for name in unused if _is_fraction(frame[name])]
    scores = [name for name in numeric if is_named_prediction(name) or _is_within_unit_interval(frame[name])]
    return (Finding.of("unnamed_scores", columns=tuple(scores)),) if scores else ()


def find_percentages(frame: pd.DataFrame, specified: Mapping[str, Any]) -> list[str]:
    """Find text columns without any other role in which every value is a percentage such as 96.5%.

    >>> import pandas as pd
    >>> find_percentages(pd.DataFrame({"y_true": ["5%", "9%"], "cnn": ["96.5%", "4 %"], "note": ["5%", "x"]}), {})
    ['cnn']
    """
    others = {column for role, value in specified.items() if role != "scores" for column in _list_columns(value)}
    reserved = {*Y_TRUE_NAMES, *SUBGROUP_NAMES, *(name for aliases in ALIASES.values() for name in aliases)}
    texts = {
        str(name): frame[name].dropna()
        for name in frame.columns
        if frame[name].dtype.kind not in "biufcmM" and str(name) not in others and normalize_name(str(name)) not in reserved
    }
    return [name for name, column in texts.items() if len(column) and column.astype(str).str.fullmatch(PERCENTAGE).all()]


def normalize_name(name: str) -> str:
    """Convert a name to lower case, without spaces, underscores, dots and hyphens."""
    return re.sub(r"[\s_.\-]", "", name.lower())


def suggest_scale(low: float, high: float) -> str:
    """Suggest a fix for a column whose name suggests probabilities but whose values range from `low` to `high`.

    >>> suggest_scale(0.2, 97.5)
    'divide percentages by 100'
    """
    if low >= 0 and 10 < high <= 100:
        return "divide percentages by 100"
    return "rename the column to a score if it does not contain probabilities"


def is_named_probability(column: str) -> bool:
    """Return whether a column name suggests probabilities.

    >>> is_named_probability("forest_proba[a]"), is_named_probability("score_p1")
    (True, False)
    """
    return bool(_PROBABILITY_NAME.search(column))


def format_labels(column: pd.Series[Any]) -> list[str]:
    """Format the distinct labels in a column as strings. The number 1.0 becomes "1"."""
    return [format_label(value) for value in column.dropna().unique().tolist()]


def format_label(value: Any) -> str:
    """Format a label as a string. The number 1.0 becomes "1"."""
    return str(normalize_label(value))


def normalize_label(value: Any) -> Any:
    """Convert a whole float such as 1.0 to an integer. Leave other labels unchanged."""
    return int(value) if isinstance(value, float) and np.isfinite(value) and value == int(value) else value


def find_duplicate_labels(labels: Sequence[str], classes: Sequence[str]) -> dict[str, str]:
    """Map differently encoded labels to the classes. The mapping is empty if there is no difference or no unique mapping.

    A label that differs from a class only in case or surrounding blanks is mapped to this class. If labels and classes are
    different words for yes and no, the mapping must be one-to-one and complete.

    >>> find_duplicate_labels(["0", "1"], ["No", "Yes"]), find_duplicate_labels(["a"], ["False", "True"])
    ({'0': 'No', '1': 'Yes'}, {})
    """
    if not labels or set(labels) <= set(classes):
        return {}
    by_case = {_fold_case(name): name for name in classes}
    if len(by_case) == len(classes):
        respelled = {label: by_case.get(_fold_case(label)) for label in labels if label not in classes}
        matched = {label: name for label, name in respelled.items() if name is not None}
        if matched:
            return matched
    by_answer = {_fold_answer(name): name for name in classes}
    answers = [_fold_answer(label) for label in labels]
    is_unambiguous = len(by_answer) == len(classes) and len(set(answers)) == len(labels) and None not in by_answer
    if is_unambiguous and set(answers) <= set(by_answer):
        return {label: by_answer[answer] for label, answer in zip(labels, answers, strict=True)}
    return {}


def _fold_case(label: str) -> str | None:
    return label.strip().casefold()


def _fold_answer(label: str) -> str | None:
    """Return "yes" or "no" if a label has this meaning, else None."""
    word = label.strip().casefold()
    return "yes" if word in _YES_WORDS else "no" if word in _NO_WORDS else None


def find_usual_positive(classes: Sequence[str]) -> str | None:
    """Infer which of two classes is positive from typical names such as "fraud" and "legit".

    A class is positive if its name is typical of positive classes, or if the name of the other class is typical of negative
    classes. Return None if the names are not conclusive.

    >>> find_usual_positive(["fraud", "legit"]), find_usual_positive(["1", "2"]), find_usual_positive(["no churn", "churn"])
    ('fraud', None, 'churn')
    """
    if len(classes) != 2:
        return None
    first, second = (label.strip().casefold() for label in classes)
    if (first, second) in _CODE_PAIRS or (second, first) in _CODE_PAIRS:
        return classes[(first, second) in _CODE_PAIRS]
    ratings = [_rate_class_name(name, other) for name, other in ((first, second), (second, first))]
    return None if ratings[0] == ratings[1] else classes[int(ratings[1] > ratings[0])]


def _rate_class_name(name: str, other: str) -> int:
    """Return 1 for a typical positive name, -1 for a typical negative name, and 0 otherwise.

    A negation of `other`, such as "no churn", is a negative name.
    """
    word, opposite = normalize_name(name), normalize_name(other)
    if word in _NEGATIVE_NAMES or word in (f"no{opposite}", f"not{opposite}", f"non{opposite}"):
        return -1
    return int(word in _POSITIVE_NAMES)
