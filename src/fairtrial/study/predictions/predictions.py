"""Predictions of one or many models on the rows of one or many data sets, read from a file or a frame, checked and repaired."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from fairtrial._check import FloatArray, IntArray
from fairtrial.study.predictions.prediction_files import Source, table_of
from fairtrial.study.predictions.prediction_roles import Roles, guess_roles

if TYPE_CHECKING:
    import pandas as pd

ScoreKind = Literal["probability", "decision"]


@dataclass(frozen=True, eq=False)
class ModelPredictions:
    """What a model said, a line for each prediction: `places` are those of the rows in the data set.

    Codes are places in the classes of the data set; `scores` has a column for each of them. `labels_from` says where the labels
    come from if the file has none: "probabilities", "scores", or "nowhere" (they are then cut at zero for want of better).
    """

    name: str
    places: IntArray
    repeat: IntArray
    fold: IntArray
    prediction: IntArray
    scores: FloatArray | None
    score_kind: ScoreKind | None
    labels_from: Literal["file", "probabilities", "scores", "nowhere"] = "file"

    @property
    def has_labels(self) -> bool:
        """Whether labels are in the file or can be read off the scores."""
        return self.labels_from != "nowhere"

    @cached_property
    def first(self) -> IntArray:
        """The line of each row's first prediction (of the first repeat and fold), in the order of the rows."""
        order = np.lexsort((self.fold, self.repeat, self.places))
        places = self.places[order]
        return order[np.concatenate(([True], places[1:] != places[:-1]))]

    @property
    def repeated(self) -> bool:
        """Whether a row has several predictions."""
        return len(self.first) < len(self.places)


@dataclass(frozen=True, eq=False)
class PredictedSet:
    """The rows of a data set with what is true of them, and the predictions of each model."""

    name: str
    classes: tuple[Any, ...]
    row_ids: npt.NDArray[Any]
    truth: IntArray
    weights: FloatArray | None
    groups: Mapping[str, npt.NDArray[Any]]
    models: Mapping[str, ModelPredictions]

    def place_of(self, positive: object) -> int | None:
        """The place of the positive class: the one named, else the second of two."""
        if positive is None:
            return 1 if len(self.classes) == 2 else None
        texts = [str(each) for each in self.classes]
        return texts.index(str(positive)) if str(positive) in texts else None


@dataclass(frozen=True, eq=False, repr=False)
class PredictionFile:
    """Predictions as they were read: `roles` tell what each column was taken for, `notes` what was repaired or assumed."""

    source: str
    roles: Roles
    sets: tuple[PredictedSet, ...]
    notes: tuple[str, ...] = ()

    @property
    def models(self) -> tuple[str, ...]:
        """The models, in the order of the file."""
        return tuple(dict.fromkeys(name for one in self.sets for name in one.models))

    def frame(self) -> pd.DataFrame:
        """A line for each data set and model: rows, predictions, classes, labels and scores."""
        import pandas as pd

        lines = [
            {
                "dataset": one.name,
                "model": name,
                "rows": len(model.first),
                "predictions": len(model.places),
                "classes": len(one.classes),
                "labels": {"file": "given", "nowhere": "none"}.get(model.labels_from, f"from {model.labels_from}"),
                "scores": model.score_kind or "none",
            }
            for one in self.sets
            for name, model in one.models.items()
        ]
        return pd.DataFrame(lines)

    def __str__(self) -> str:
        return "\n".join([f"{self.source}: {self.roles.words}", self.frame().to_string(index=False), *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{escape(note)}</p>" for note in (f"{self.source}: {self.roles.words}", *self.notes))
        return self.frame().to_html(index=False) + notes


def read_predictions(
    source: Source,
    *,
    truth: str | None = None,
    prediction: Any = None,
    model: str | None = None,
    scores: Any = None,
    dataset: str | None = None,
    row: str | None = None,
    weight: str | None = None,
    group: Any = None,
    repeat: str | None = None,
    fold: str | None = None,
    positive: object = None,
) -> PredictionFile:
    """Predictions from a CSV, TSV or Parquet file (or a list of them, or a pattern), or from a frame.

    - long: a line for each row and model, with a column that names the model (or none, for one model), one of labels and/or
      one of scores for each class (`score_a`, `p_a`, `proba(a)`, `score[a]`), or one `score` of the positive class;
    - wide: a line for each row and for each model a column of labels and/or scores: `forest`, `forest_label`, `forest_score`,
      `forest[a]`.

    Roles are guessed from names and contents, and can be given: by column, for several columns by list, for wide files by
    mapping of model to column (`scores={"forest": {"a": "fa", "b": "fb"}}`). What `fairtrial export` writes is understood.
    `positive` is the class of a lone column of scores, by default the second of two. What breaks a rule is refused in a
    sentence; what can be mended is mended, and `notes` say so.

    >>> import pandas as pd
    >>> table = pd.DataFrame({"truth": ["no", "yes", "yes"], "tree": ["no", "no", "yes"], "forest_score": [0.1, 0.7, 0.9]})
    >>> found = read_predictions(table)
    >>> print(found.frame().to_string(index=False))
    dataset  model  rows  predictions  classes             labels      scores
       data   tree     3            3        2              given        none
       data forest     3            3        2 from probabilities probability
    """
    from fairtrial.study.predictions.prediction_sets import sets_of

    table, name = table_of(source)
    roles = guess_roles(
        table,
        truth=truth,
        prediction=prediction,
        model=model,
        scores=scores,
        dataset=dataset,
        row=row,
        weight=weight,
        group=group,
        repeat=repeat,
        fold=fold,
    )
    sets, notes = sets_of(table, roles, positive)
    return PredictionFile(name, roles, sets, notes)
