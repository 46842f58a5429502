"""The verdict of a judgement over data sets, or over the splits of one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fairtrial.errors import InputError
from fairtrial.measures import Measure
from fairtrial.significance import Verdict, advise
from fairtrial.study.predictions.judged_plan import Plan
from fairtrial.study.predictions.judged_rows import JudgedModel
from fairtrial.study.predictions.prediction_checks import Notes
from fairtrial.study.predictions.predictions import PredictedSet, PredictionFile


def over_splits(
    file: PredictionFile, by_set: Sequence[Sequence[JudgedModel]], main: Measure, plan: Plan, notes: Notes
) -> Verdict | None:
    """The verdict over data sets, or over the splits of one; None where there is one split of one data set, or one model."""
    import pandas as pd

    if len(file.models) < 2 or not all(model.has(main) for models in by_set for model in models):
        return None
    lines = [line for one, models in zip(file.sets, by_set, strict=True) for line in split_values(one, models, main)]
    table = pd.DataFrame(lines, columns=["dataset", "learner", "repeat", "fold", "value"])
    if len(table.drop_duplicates(["dataset", "repeat", "fold"])) < 2:
        return None
    try:
        return advise(table, measure=main.name, alpha=plan.alpha)
    except InputError as error:
        notes.tell(f"No verdict over {'data sets' if len(file.sets) > 1 else 'splits'}: {error}.")
        return None


def split_values(one: PredictedSet, models: Sequence[JudgedModel], main: Measure) -> list[tuple[str, str, int, int, float]]:
    """The main measure of each model on each split, by the predictions of that split alone."""
    found = []
    for judged in models:
        model = one.models[judged.name]
        for repeat, fold in sorted(set(zip(model.repeat.tolist(), model.fold.tolist(), strict=True))):
            lines = np.flatnonzero((model.repeat == repeat) & (model.fold == fold))
            places = model.places[lines]
            part = JudgedModel(
                one.name,
                judged.name,
                one.classes,
                judged.positive,
                places,
                one.truth[places],
                model.prediction[lines],
                None if model.scores is None else model.scores[lines],
                model.score_kind,
                None if one.weights is None else one.weights[places],
            )
            found.append((one.name, judged.name, repeat, fold, part.value(main)))
    return found
