"""A file of predictions as the archive that results read: one condition, and what the file tells of data sets and models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import IntArray
from fairtrial._registry import did_you_mean
from fairtrial.errors import InputError
from fairtrial.study.archive import TRIAL_COLUMNS, ConditionFacts, DataFacts, LearnerFacts
from fairtrial.study.evidence import Predictions
from fairtrial.study.predictions.predictions import ModelPredictions, PredictedSet, PredictionFile

if TYPE_CHECKING:
    import pandas as pd

_CLEAN = ConditionFacts("clean", 0.0, "predictions as they are in the file", {"condition": "clean"})


class PredictionArchive:
    """Implements `fairtrial.study.archive.Archive` in memory; learners are the models, a split is a repeat and a fold.

    >>> import pandas as pd
    >>> from fairtrial.study.predictions.predictions import read_predictions
    >>> archive = PredictionArchive(read_predictions(pd.DataFrame({"truth": [0, 1, 1], "tree": [0, 0, 1]})))
    >>> archive.trials()[["dataset", "learner", "repeat", "fold", "status"]].to_dict("records")
    [{'dataset': 'data', 'learner': 'tree', 'repeat': 0, 'fold': 0, 'status': 'ok'}]
    """

    def __init__(self, file: PredictionFile, *, measures: Sequence[str] = (), seed: int = 0) -> None:
        self.file = file
        self.name = file.source
        self.seed = seed
        self.conditions = (_CLEAN,)
        self.learners = tuple(LearnerFacts(name, "", {}, {}) for name in file.models)
        self.runs: tuple[Mapping[str, Any], ...] = ()
        self.declaration: Mapping[str, Any] = {
            "name": file.source,
            "seed": seed,
            "data": {"sets": [one.name for one in file.sets]},
            "learners": {name: {} for name in file.models},
            "conditions": {},
            "resampling": {"scheme": "given"},
            "measures": list(measures),
            "notes": list(file.notes),
        }

    @cached_property
    def datasets(self) -> tuple[DataFacts, ...]:
        """The data sets, as far as the file tells."""
        return tuple(_facts(one, self.file.source) for one in self.file.sets)

    @cached_property
    def _split_lines(self) -> list[tuple[PredictedSet, ModelPredictions, int, int, IntArray]]:
        return [
            (one, model, repeat, fold, np.flatnonzero((model.repeat == repeat) & (model.fold == fold)))
            for one in self.file.sets
            for repeat, fold in _splits(one)
            for model in one.models.values()
        ]

    def trials(self) -> pd.DataFrame:
        """A line for each data set, split and model; where a model has no predictions, its trial is missing."""
        import pandas as pd

        lines = []
        everyone = self.file.models
        found = {(one.name, r, f, m.name): (i, m, len(own)) for i, (one, m, r, f, own) in enumerate(self._split_lines)}
        for one in self.file.sets:
            for repeat, fold in _splits(one):
                for name in everyone:
                    trial, model, count = found.get((one.name, repeat, fold, name), (-1, None, 0))
                    line: dict[str, Any] = dict.fromkeys(TRIAL_COLUMNS)
                    line.update(trial=trial if count else -1, dataset=one.name, condition="clean", level=0.0, learner=name)
                    line.update(repeat=repeat, fold=fold, status="ok" if count else "missing")
                    line["notes"] = _note(model)
                    lines.append(line)
        table = pd.DataFrame(lines, columns=list(TRIAL_COLUMNS))
        numbers = ["fit_time", "predict_time", "fit_cpu", "predict_cpu", "memory", "realised_level", "changed"]
        numbers += ["test_level", "test_changed"]
        return table.astype(dict.fromkeys(numbers, "float64"))

    def predictions(self, trials: Sequence[int]) -> Iterator[Predictions]:
        """The predictions of trials, in the order asked for."""
        for trial in trials:
            if not 0 <= trial < len(self._split_lines):
                raise InputError(f"trial must be one of the {len(self._split_lines)} of the file, got {trial}")
            one, model, _, _, own = self._split_lines[trial]
            places = model.places[own]
            scores = None if model.scores is None else model.scores[own]
            yield Predictions(places, one.truth[places], model.prediction[own], scores, model.score_kind)

    def split(self, dataset: str, repeat: int, fold: int) -> tuple[IntArray, IntArray]:
        """Positions of the training and test rows: what is not tested in a split is taken to be its training part."""
        names = [one.name for one in self.file.sets]
        if dataset not in names:
            raise InputError(f"no data set is called {dataset!r}: {did_you_mean(dataset, names)}")
        one = self.file.sets[names.index(dataset)]
        tested = np.zeros(len(one.truth), dtype=bool)
        for model in one.models.values():
            tested[model.places[(model.repeat == repeat) & (model.fold == fold)]] = True
        return np.flatnonzero(~tested), np.flatnonzero(tested)


def _splits(one: PredictedSet) -> list[tuple[int, int]]:
    found = {pair for model in one.models.values() for pair in _pairs(model.repeat, model.fold)}
    return sorted(found)


def _pairs(repeat: IntArray, fold: IntArray) -> list[tuple[int, int]]:
    return [(int(r), int(f)) for r, f in np.unique(np.column_stack([repeat, fold]), axis=0)]


def _note(model: ModelPredictions | None) -> str | None:
    if model is None or model.labels_from == "file":
        return None
    told = {"probabilities": "labels are the most likely classes", "scores": "labels are read off the scores"}
    return told.get(model.labels_from, "no labels: scores are cut at zero for want of better")


def _facts(one: PredictedSet, source: str) -> DataFacts:
    digest = blake2b(digest_size=16)
    for part in ([str(each) for each in one.classes], [str(each) for each in one.row_ids]):
        digest.update("\x1f".join(part).encode() + b"\x1e")
    digest.update(one.truth.astype("<i4").tobytes())
    counts = np.bincount(one.truth, minlength=len(one.classes))
    facts = {
        "rows": len(one.truth),
        "classes": len(one.classes),
        "imbalance_ratio": float(counts.max() / counts[counts > 0].min()),
        "source": source,
        "notes": "known by its predictions alone",
    }
    return DataFacts(one.name, digest.hexdigest(), one.classes, one.truth, one.row_ids, facts)
