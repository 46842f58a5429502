"""Present the predictions in a file as an archive of trials, like the archive of a study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from fairtrial._check import IntArray
from fairtrial._narrative import render_all
from fairtrial._registry import suggest_name
from fairtrial.errors import InputError
from fairtrial.predictions.read import DatasetPredictions, ModelPredictions, PredictionFile
from fairtrial.study.archive import TRIAL_COLUMNS, ConditionFacts, DataFacts, LearnerFacts, describe_groups
from fairtrial.study.records import Predictions

if TYPE_CHECKING:
    import pandas as pd

_CLEAN = ConditionFacts("clean", 0.0, "predictions of the file, unchanged", {"condition": "clean"})


class PredictionArchive:
    """An in-memory `fairtrial.study.archive.Archive`. Models take the role of learners. Repeat and fold identify a split.

    >>> import pandas as pd
    >>> from fairtrial.predictions.read import read_predictions
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
        self.schemes = ("given",)
        self.runs: tuple[Mapping[str, Any], ...] = ()
        self.declaration: Mapping[str, Any] = {
            "name": file.source,
            "seed": seed,
            "data": {"sets": [dataset.name for dataset in file.datasets]},
            "learners": {name: {} for name in file.models},
            "conditions": {},
            "resampling": {"scheme": "given"},
            "measures": list(measures),
            "notes": list(render_all(file.notes, "model")),
        }

    def select_scheme(self, name: str) -> PredictionArchive:
        """Return the archive itself, because a file contains only one resampling scheme."""
        return self

    @cached_property
    def datasets(self) -> tuple[DataFacts, ...]:
        """The data sets, with the facts that the file provides."""
        return tuple(_describe_dataset(dataset, self.file.source) for dataset in self.file.datasets)

    @cached_property
    def _split_lines(self) -> list[tuple[DatasetPredictions, ModelPredictions, int, int, IntArray]]:
        return [
            (dataset, model, repeat, fold, np.flatnonzero((model.repeat == repeat) & (model.fold == fold)))
            for dataset in self.file.datasets
            for repeat, fold in _list_splits(dataset)
            for model in dataset.models.values()
        ]

    def trials(self) -> pd.DataFrame:
        """List the trials, with one row per data set, split and model.

        If a model has no predictions for a split, the status of the trial is "missing".
        """
        import pandas as pd

        lines = []
        model_names = self.file.models
        trials_by_key = {
            (dataset.name, r, f, m.name): (i, m, len(line_indices))
            for i, (dataset, m, r, f, line_indices) in enumerate(self._split_lines)
        }
        for dataset in self.file.datasets:
            for repeat, fold in _list_splits(dataset):
                for name in model_names:
                    trial, model, count = trials_by_key.get((dataset.name, repeat, fold, name), (-1, None, 0))
                    line: dict[str, Any] = dict.fromkeys(TRIAL_COLUMNS)
                    line.update(trial=trial if count else -1, dataset=dataset.name, condition="clean", level=0.0, learner=name)
                    line["resampling"] = self.schemes[0]
                    line.update(repeat=repeat, fold=fold, status="ok" if count else "missing")
                    line["notes"] = _describe_label_source(model)
                    lines.append(line)
        table = pd.DataFrame(lines, columns=list(TRIAL_COLUMNS))
        numbers = ["fit_time", "predict_time", "fit_cpu", "predict_cpu", "memory", "realised_level", "changed"]
        numbers += ["test_level", "test_changed", "abstentions"]
        return table.astype(dict.fromkeys(numbers, "float64"))

    def predictions(self, trials: Sequence[int]) -> Iterator[Predictions]:
        """Yield the predictions of the given trials, in the given order."""
        for trial in trials:
            if not 0 <= trial < len(self._split_lines):
                raise InputError(f"trial must be one of the {len(self._split_lines)} trials in the file, got {trial}")
            dataset, model, _, _, line_indices = self._split_lines[trial]
            row_indices = model.row_indices[line_indices]
            scores = None if model.scores is None else model.scores[line_indices]
            yield Predictions(
                row_indices, dataset.y_true[row_indices], model.prediction[line_indices], scores, model.score_kind
            )

    def split(self, dataset: str, repeat: int, fold: int) -> tuple[IntArray, IntArray]:
        """Return the indices of training and test rows. Rows that no model predicts in the split count as training rows."""
        names = [dataset_predictions.name for dataset_predictions in self.file.datasets]
        if dataset not in names:
            raise InputError(f"{dataset!r} is not a data set of the file: {suggest_name(dataset, names)}")
        dataset_predictions = self.file.datasets[names.index(dataset)]
        tested = np.zeros(len(dataset_predictions.y_true), dtype=bool)
        for model in dataset_predictions.models.values():
            tested[model.row_indices[(model.repeat == repeat) & (model.fold == fold)]] = True
        return np.flatnonzero(~tested), np.flatnonzero(tested)


def _list_splits(dataset: DatasetPredictions) -> list[tuple[int, int]]:
    splits = {pair for model in dataset.models.values() for pair in _list_repeat_folds(model.repeat, model.fold)}
    return sorted(splits)


def _list_repeat_folds(repeat: IntArray, fold: IntArray) -> list[tuple[int, int]]:
    return [(int(r), int(f)) for r, f in np.unique(np.column_stack([repeat, fold]), axis=0)]


def _describe_label_source(model: ModelPredictions | None) -> str | None:
    if model is None or model.labels_from == "file":
        return None
    descriptions = {
        "probabilities": "labels are the most probable classes",
        "scores": "labels are the classes with the highest scores",
        "threshold": "labels are positive if the score is at least the threshold",
    }
    return descriptions.get(model.labels_from, "no labels, because all scores have the same sign")


def _describe_dataset(dataset: DatasetPredictions, source: str) -> DataFacts:
    digest = blake2b(digest_size=16)
    for part in ([str(value) for value in dataset.classes], [str(value) for value in dataset.row_ids]):
        digest.update("\x1f".join(part).encode() + b"\x1e")
    digest.update(dataset.y_true.astype("<i4").tobytes())
    counts = np.bincount(dataset.y_true, minlength=len(dataset.classes))
    facts = {
        "rows": len(dataset.y_true),
        "classes": len(dataset.classes),
        "imbalance_ratio": float(counts.max() / counts[counts > 0].min()),
        "source": source,
        "notes": "only predictions are known",
    }
    if dataset.clusters is not None:
        facts["groups"] = describe_groups("cluster", dataset.clusters)
    return DataFacts(dataset.name, digest.hexdigest(), dataset.classes, dataset.y_true, dataset.row_ids, facts)
