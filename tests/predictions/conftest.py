"""Fixtures that run a test on rows in memory and on a streamed file."""

from contextlib import ExitStack

import pytest

from fairtrial import judge
from fairtrial.predictions.read import read_predictions
from fairtrial.predictions.statistics import InMemoryModels
from fairtrial.predictions.streamed import StreamedFile, StreamedModels
from fairtrial.predictions.validate import Notes


@pytest.fixture(params=["memory", "streamed"])
def read_models(request, tmp_path):
    """Read the statistics of the models of a table."""
    with ExitStack() as files:

        def read(table, positive=None, **roles):
            if request.param == "memory":
                return InMemoryModels(read_predictions(table, positive=positive, **roles), positive).models
            path = tmp_path / "predictions.parquet"
            table.to_parquet(path)
            file = files.enter_context(StreamedFile([path], **roles))
            return StreamedModels(file, positive, Notes()).models

        yield read


@pytest.fixture(params=[False, True], ids=["memory", "streamed"])
def judge_table(request, tmp_path):
    """Judge a table that is written to a file, with few resamples."""

    def judge_file(table, suffix="csv", **options):
        path = tmp_path / f"predictions.{suffix}"
        table.to_csv(path, index=False) if suffix == "csv" else table.to_parquet(path)
        return judge(path, stream=request.param, **{"resamples": 20, **options})

    return judge_file
