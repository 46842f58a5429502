"""The JSON documents of gate, judge, compare and results follow one schema."""

import json
from importlib.resources import files

import jsonschema
import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import fairtrial
from fairtrial.cli import app
from tests.predictions.test_gate import make_frame

SCHEMA = json.loads((files("fairtrial") / "result.schema.json").read_text())


@pytest.fixture
def write(tmp_path):
    """Run a command with --json, and return the document."""

    def run(*arguments):
        target = tmp_path / "result.json"
        result = CliRunner().invoke(app, [*map(str, arguments), "--json", str(target)])
        assert result.exit_code in (0, 1), result.output
        return json.loads(target.read_text())

    return run


@pytest.fixture
def predictions(tmp_path):
    make_frame(600).to_csv(tmp_path / "predictions.csv", index=False)
    return tmp_path / "predictions.csv"


@pytest.fixture
def scores(tmp_path):
    table = np.random.default_rng(0).normal([0.8, 0.75, 0.7], 0.02, (12, 3))
    frame = pd.DataFrame(table, columns=["a", "b", "c"]).assign(dataset=[f"d{i}" for i in range(12)])
    frame.to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path / "scores.csv"


def test_the_schema_is_valid():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"schema": "fairtrial-result", "version": 1}, SCHEMA)


def test_gate(write, predictions):
    document = write("gate", predictions, "--candidate", "new", "--baseline", "old", "--margin", "0.05")
    jsonschema.validate(document, SCHEMA)
    assert document["command"] == "gate"
    jsonschema.validate(json.loads(json.dumps({**document, "low": None})), SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({key: value for key, value in document.items() if key != "decision"}, SCHEMA)


def test_judge(write, predictions):
    document = write("judge", predictions, "--margin", "0.05")
    jsonschema.validate(document, SCHEMA)
    judgement = fairtrial.judge(predictions, margin=0.05)
    (comparison,) = document["comparisons"]
    assert comparison["p_value"] == judgement.pairs["p_value"].iloc[0]
    assert comparison["at_margin"]["decision"] == judgement.margins[0].result.decision
    assert len(document["scores"]) == len(judgement.scores)


def test_judge_contains_the_sentences_about_subgroups(write, tmp_path):
    frame = make_frame(600).assign(part=["a", "b", "c"] * 200)
    frame.to_csv(tmp_path / "parts.csv", index=False)
    document = write("judge", tmp_path / "parts.csv", "--subgroup", "part")
    jsonschema.validate(document, SCHEMA)
    judgement = fairtrial.judge(tmp_path / "parts.csv", subgroup="part")
    assert document["gap_answer"] == list(judgement.gap_answer)
    assert document["gap_summary"] == list(judgement.gap_summary)
    assert "from the rest" in document["gap_answer"][0]
    assert set(document["gaps"][0]) == set(judgement.gaps.columns)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**document, "gap_answer": "text"}, SCHEMA)


def test_compare(write, scores):
    document = write("compare", scores, "--margin", "0.02", "--measure", "accuracy")
    jsonschema.validate(document, SCHEMA)
    assert len(document["comparisons"]) == 3
    assert {line["learner"] for line in document["scores"]} == {"a", "b", "c"}
    assert all(comparison["at_margin"]["margin"] == 0.02 for comparison in document["comparisons"])


def test_results(write, tmp_path):
    spec = 'name = "small"\ndata = ["iris", "wine"]\nlearners = ["gaussian-nb", "dummy"]\nmeasures = ["accuracy"]\n'
    (tmp_path / "small.toml").write_text(spec + "[resampling]\nfolds = 3\n")
    store = tmp_path / "small.fairtrial"
    fairtrial.Study.read(tmp_path / "small.toml").run(store, progress=False)
    document = write("results", store)
    jsonschema.validate(document, SCHEMA)
    assert (document["command"], document["source"], document["measure"]) == ("results", "small.fairtrial", "accuracy")
