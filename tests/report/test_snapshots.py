"""Snapshots of the visible text of a study page, a judgement page and a comparison page.

They are the only tests that assert wording in reports. Run with FAIRTRIAL_UPDATE_SNAPSHOTS=1 to write them anew.
"""

import html
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fairtrial import compare, judge
from fairtrial.report.page import render
from fairtrial.report.report import build_sections
from fairtrial.report.source import describe_source
from fairtrial.study import Results
from tests.report.drifting import WORN, WORN_ALL
from tests.report.judgement.cases import two_classes
from tests.report.result_cases import NOISE
from tests.snapshots import assert_snapshot
from tests.study.archives import CLEAN, Predictions, archive_of, data_facts, folds

SNAPSHOTS = Path(__file__).parent / "snapshots"
MASKED = re.compile(r"\b\d+\.\d+\.\d+(?:\.?\w+)*|\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d\S*)?|\b[0-9a-f]{16,}\b")


def read_visible_text(page):
    """Return the text of a page, with alternative texts and the headers of tables, but without their bodies."""
    body = page.partition("<body>")[2]
    body = re.sub(r"<(script|style)\b.*?</\1>|<tbody>.*?</tbody>", "", body, flags=re.DOTALL)
    body = re.sub(r'<div class="canvas"[^>]*aria-label="([^"]*)"[^>]*>', r"\n[alt] \1\n", body)
    body = re.sub(r"<h(\d)[^>]*>", lambda match: "\n" + "#" * int(match[1]) + " ", body)
    body = body.replace('<span class="explained">', "\n")
    body = re.sub(r"<div class=\"tools\">.*?</div>", "", body, flags=re.DOTALL)
    body = body.replace("</th>", " | ")
    body = re.sub(r"</(?:p|h\d|li|figcaption|tr|summary)>", "\n", body)
    lines = (line.strip() for line in html.unescape(re.sub(r"<[^>]+>", "", body)).splitlines())
    return MASKED.sub("MASKED", "\n".join(line for line in lines if line))


def make_study():
    """Make a study with three learners whose probabilities are random around the true label."""
    rng = np.random.default_rng(3)
    noises = {
        "good": {"clean": 0.5, "class-noise": 0.7, "worn": 0.6, "worn-all": 0.6},
        "fair": {"clean": 0.6, "class-noise": 1.2, "worn": 1.2, "worn-all": 0.7},
        "poor": {"clean": 2.0, "class-noise": 2.5, "worn": 2.5, "worn-all": 2.0},
    }
    datasets = [data_facts(f"set{i}", np.arange(100 + 10 * i) % (2 + i % 2), tuple("abc"[: 2 + i % 2])) for i in range(6)]
    splits = {facts.name: folds(facts.codes, 1, 2) for facts in datasets}

    def predict(facts, condition, learner, repeat, fold):
        rows = splits[facts.name][repeat, fold][1]
        y_true = facts.codes[rows]
        logits = np.eye(len(facts.classes))[y_true] + noises[learner][condition.name] * rng.normal(
            size=(len(rows), len(facts.classes))
        )
        probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
        return Predictions(rows, y_true, probabilities.argmax(axis=1), probabilities, "probability")

    declaration = {"measures": ["accuracy", "auc", "brier"]}
    return Results(archive_of(datasets, [CLEAN, NOISE, WORN, WORN_ALL], list(noises), splits, predict, declaration=declaration))


def make_judgement():
    return judge(two_classes(), resamples=60)


def make_comparison():
    rng = np.random.default_rng(7)
    scores = rng.uniform(0.7, 0.9, (12, 1)) + np.array([0.06, 0.05, 0.0]) + rng.normal(0, 0.01, (12, 3))
    names = [f"set {i}" for i in range(1, 13)]
    return compare(pd.DataFrame(scores, columns=["forest", "boosting", "tree"], index=names), measure="accuracy")


@pytest.mark.parametrize(
    ("name", "make_results"),
    [
        ("study", make_study),
        ("judgement", make_judgement),
        ("comparison", make_comparison),
    ],
)
def test_visible_text_of_a_page(name, make_results):
    results = make_results()
    source = describe_source(results)
    page = render(build_sections(results), source.title, subtitle=source.subtitle)
    assert_snapshot(read_visible_text(page), SNAPSHOTS / f"{name}.txt")
