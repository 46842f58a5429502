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
from tests.report.drifting import WORN, WORN_ALL
from tests.report.judgement.cases import two_classes
from tests.report.result_cases import NOISE, few_learners, skilled_results
from tests.snapshots import assert_snapshot
from tests.study.archives import CLEAN

SNAPSHOTS = Path(__file__).parent / "snapshots"
MASKED = re.compile(r"\b\d+\.\d+\.\d+\S*|\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d\S*)?|\b[0-9a-f]{16,}\b")


def read_visible_text(page):
    """Return the text of a page, with alternative texts and the headers of tables, but without their bodies."""
    body = page.partition("<body>")[2]
    body = re.sub(r"<(script|style)\b.*?</\1>|<tbody>.*?</tbody>", "", body, flags=re.DOTALL)
    body = re.sub(r'<div class="canvas"[^>]*aria-label="([^"]*)"[^>]*>', r"\n[alt] \1\n", body)
    body = re.sub(r"<h(\d)[^>]*>", lambda match: "\n" + "#" * int(match[1]) + " ", body)
    body = re.sub(r'<span class="explained">', "\n", body)
    body = re.sub(r"<div class=\"tools\">.*?</div>", "", body, flags=re.DOTALL)
    body = body.replace("</th>", " | ")
    body = re.sub(r"</(?:p|h\d|li|figcaption|tr|summary)>", "\n", body)
    lines = (line.strip() for line in html.unescape(re.sub(r"<[^>]+>", "", body)).splitlines())
    return MASKED.sub("MASKED", "\n".join(line for line in lines if line))


def make_study():
    skills = {
        "good": {"clean": 0.95, "class-noise": 0.9, "worn": 0.9, "worn-all": 0.92},
        "fair": {"clean": 0.9, "class-noise": 0.7, "worn": 0.7, "worn-all": 0.85},
        "poor": {"clean": 0.6, "class-noise": 0.55, "worn": 0.55, "worn-all": 0.6},
    }
    return skilled_results(skills, conditions=(CLEAN, NOISE, WORN, WORN_ALL))


def make_study_with_scores():
    return few_learners(["bayes", "tree"], ["iris", "cancer"], declaration={"measures": ["accuracy", "auc", "brier"]})


def make_judgement():
    return judge(two_classes(), resamples=60)


def make_comparison():
    rng = np.random.default_rng(7)
    scores = rng.uniform(0.7, 0.9, (12, 1)) + [0.06, 0.05, 0.0] + rng.normal(0, 0.01, (12, 3))
    names = [f"set {i}" for i in range(1, 13)]
    return compare(pd.DataFrame(scores, columns=["forest", "boosting", "tree"], index=names), measure="accuracy")


@pytest.mark.parametrize(
    ("name", "make_results"),
    [
        ("study", make_study),
        ("study_with_scores", make_study_with_scores),
        ("judgement", make_judgement),
        ("comparison", make_comparison),
    ],
)
def test_visible_text_of_a_page(name, make_results):
    results = make_results()
    source = describe_source(results)
    page = render(build_sections(results), source.title, subtitle=source.subtitle)
    assert_snapshot(read_visible_text(page), SNAPSHOTS / f"{name}.txt")
