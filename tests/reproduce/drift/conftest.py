"""Runs that nobody ran: errors set by hand, so that the right verdicts are known."""

import numpy as np
import pytest

from fairtrial.reproduce.drift.declared import Plan, plan_of
from fairtrial.reproduce.drift.findings import Findings
from fairtrial.study.environments import build_matrix

ENVIRONMENTS = {
    "populations": ["NGP", "DP", "W"],
    "missing": ["NGP", "no Infant", "no Elderly"],
    "definitions": ["NGP", "MC", "FC"],
}
REPLICATES = 6
IDEAL = {"1R": 0.25, "Decision Tree": 0.15, "Simple NN": 0.2, "Complex NN": 0.16}
LOST = {"1R": 0.06, "Decision Tree": 0.03, "Simple NN": 0.05, "Complex NN": 0.02}
TRIVIAL = 0.4


def cells(table: str) -> list[tuple[str, str]]:
    names = ENVIRONMENTS[table]
    pairs = [(train, test) for train in names for test in names]
    wanted = {"populations": lambda pair: pair[0] == "NGP", "missing": lambda pair: pair[1] == "NGP"}
    return [pair for pair in pairs if pair[0] == pair[1] or wanted.get(table, bool)(pair)]


def findings(lost: dict[str, float] = LOST, plan: Plan | None = None) -> Findings:
    """Each learner loses the same in every change, but for a wobble that is the same for all."""
    plan = plan or plan_of("smoke")
    wobble = np.array([-2, -1, 0, 0, 1, 2]) / 1000
    matrices = {}
    for part in {each for variant in ("", *plan.variants) for each in plan.parts(variant).values()}:
        errors = {}
        for train, test in cells(part.table):
            foreign = train != test
            errors[part.learner, train, test] = IDEAL[part.learner] + foreign * (lost[part.learner] + wobble)
        trivial = {name: np.full(REPLICATES, TRIVIAL) for name in ENVIRONMENTS[part.table]}
        settings = {"n_train": 1, "n_test": 1, "replicates": REPLICATES, "seed": 0, "alpha": 0.05}
        matrices[part] = build_matrix([part.learner], ENVIRONMENTS[part.table], errors, trivial, [], settings)
    return Findings(plan, matrices)


@pytest.fixture(scope="session")
def found() -> Findings:
    return findings()
