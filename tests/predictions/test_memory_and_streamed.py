"""A file has the same judgement in memory and streamed."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, given, settings, strategies as st

from fairtrial.predictions.judgement import judge

EXACT = ("wilson", "delong", "newcombe")
# Notes about what only one of the two does.
OWN_NOTES = (
    *("streamed_file", "weights_used", "streamed_weights", "no_test", "no_verdict", "delong_omitted", "delong_approximate"),
    *("rows_in_file_order", "rows_unidentified", "not_probabilities", "zero_scores", "below_chance"),
)


def table_of(rng, classes, models, *, rows=40, weights=False, folds=0, repeats=1, dropped=0, labels=True, digits=2):
    """Random predictions, long: `folds` that each row is in twice where they are three, `dropped` rows of the last model."""
    truth = np.concatenate([np.arange(len(classes)), np.arange(len(classes)), rng.integers(0, len(classes), rows)])
    n, parts = len(truth), []
    weight, group = rng.integers(1, 5, n) / 2, rng.choice(["u", "v", None], n)
    for name in models:
        for repeat in range(repeats):
            for fold in range(max(1, folds)):
                scores = rng.dirichlet(np.ones(len(classes)), n) + 0.4 * np.eye(len(classes))[truth]
                shares = (scores / scores.sum(axis=1)[:, None]).round(digits)
                shares[:, -1] = (1 - shares[:, :-1].sum(axis=1)).round(digits)
                part = pd.DataFrame({"row": np.arange(n), "model": name, "truth": np.array(classes)[truth]})
                part = part.assign(**{f"p_{label}": shares[:, i] for i, label in enumerate(classes)}, group=group)
                part = part.assign(prediction=np.array(classes)[rng.integers(0, len(classes), n)]) if labels else part
                part = part.assign(weight=weight) if weights else part
                part = part.assign(fold=fold) if folds else part
                part = part.assign(repeat=repeat) if repeats > 1 else part
                if folds:  # the rows of a fold, which overlap where there are three
                    inside = (np.arange(n) % folds == fold) | ((folds == 3) & (np.arange(n) % 3 == (fold + 1) % 3))
                    part = part[inside]
                if name == models[-1] and dropped:
                    part = part[part["row"] >= dropped]
                parts.append(part)
    return pd.concat(parts, ignore_index=True)


def both(path, table, **options):
    table = table.sample(frac=1, random_state=0)
    table.to_parquet(path) if path.suffix == ".parquet" else table.to_csv(path, index=False)
    return [judge(path, resamples=20, stream=stream, **options) for stream in (False, True)]


def meeting(held, counted, keys, columns, least=1):
    """Check that rows of both with the same keys have the same values."""
    joined = held.merge(counted, on=keys, suffixes=("", "_counted"))
    assert len(joined) >= least
    assert len(joined) == len(counted)
    for column in columns:
        mine, other = joined[column].to_numpy(dtype=float), joined[f"{column}_counted"].to_numpy(dtype=float)
        assert np.allclose(mine, other, rtol=1e-9, atol=1e-9, equal_nan=True), (
            column,
            joined[[*keys, column, f"{column}_counted"]],
        )


def ordered(pairs):
    """Each pair with its names in order, for the two may list models in another one."""
    lines = pairs.to_dict("records")
    for line in lines:
        if line["first"] > line["second"]:
            line["first"], line["second"] = line["second"], line["first"]
            line["difference"], line["low"], line["high"] = -line["difference"], -line["high"], -line["low"]
            # McNemar's statistic is a count of the first model alone: p and limits tell whether the tests are the same.
            line["statistic"] = -line["statistic"]
        line["statistic"] = np.nan if line["test"] == "mcnemar" else line["statistic"]
    return pd.DataFrame(lines, columns=pairs.columns)


def notes_of(judgement):
    """List the notes, with names in sort order because the two may list models in another one."""
    notes = []
    for note in judgement.notes:
        values = {name: sorted(map(str, value)) if isinstance(value, tuple) else value for name, value in note.values.items()}
        if "first" in values:
            sides = [(values.pop(name), values.pop(f"{name}_rows", 0)) for name in ("first", "second")]
            values["pair"] = sorted(sides)
        if note.kind not in OWN_NOTES:
            notes.append((note.kind, sorted(map(str, values.items()))))
    return sorted(notes)


def agree(held, counted):
    """Check that everything that both compute is the same."""
    assert held.main == counted.main
    assert held.positives == counted.positives
    keys = ["dataset", "model", "measure"]
    meeting(held.scores, counted.scores, keys, ["estimate", "rows", "chance"])
    assert set(held.scores["measure"]) - set(counted.scores["measure"]) <= {"calibration_error"}
    closed = counted.scores[counted.scores["method"].isin(EXACT)]
    meeting(held.scores[held.scores["method"].isin(EXACT)], closed, [*keys, "method"], ["low", "high"], 0)
    columns = ["support", "predicted", "precision", "precision_low", "recall", "recall_high", "f_score", "auc"]
    known = [column for column in columns if column in held.classes and column in counted.classes]
    meeting(held.classes, counted.classes, ["dataset", "model", "class"], known)
    meeting(
        held.subgroups,
        counted.subgroups,
        ["dataset", "column", "subgroup", "model", "measure"],
        ["rows", "estimate", "proportion"],
    )
    order = ["dataset", "model", "class", "mean_predicted"]
    numbers = ["mean_predicted", "observed_frequency", "weight", "low", "high"]
    tables = [one.calibration.sort_values(order)[numbers].to_numpy(dtype=float) for one in (held, counted)]
    assert np.allclose(*tables)
    assert {kind: len(points) for kind, points in held.curves.items()} == {
        kind: len(points) for kind, points in counted.curves.items()
    }
    of_pairs(ordered(held.pairs), ordered(counted.pairs))
    assert notes_of(held) == notes_of(counted)
    # FT008 is about the verdict over data sets, which only rows in memory have.
    kinds = [sorted({finding.kind for finding in one.methodology} - {"FT008"}) for one in (held, counted)]
    assert kinds[0] == kinds[1]
    assert held.class_counts == counted.class_counts


def of_pairs(held, counted):
    keys = ["dataset", "first", "second", "test", "measure"]
    meeting(held, counted, keys, ["difference", "rows"], 0)
    exact = counted[counted["test"].isin(["mcnemar", "delong"])]
    meeting(held, exact, keys, ["statistic", "p_value", "p_adjusted", "low", "high", "primary"], 0)
    deciding = [set(map(tuple, each.loc[each["primary"], keys].to_numpy())) for each in (held, counted)]
    assert deciding[1] <= deciding[0]


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), seed=st.integers(0, 10_000))
def test_a_random_file(tmp_path, data, seed):
    rng = np.random.default_rng(seed)
    sets = data.draw(st.lists(st.sampled_from(["ab", "abc"]), min_size=1, max_size=2), label="classes of each data set")
    options = {
        "weights": data.draw(st.booleans(), label="weights"),
        "folds": data.draw(st.sampled_from([0, 2, 3]), label="folds"),
        "repeats": data.draw(st.sampled_from([1, 2]), label="repeats"),
        "dropped": data.draw(st.sampled_from([0, 7]), label="dropped"),
        "labels": data.draw(st.booleans(), label="labels"),
    }
    models = data.draw(st.sampled_from([["x"], ["x", "y"], ["{where}", "y'\"", "{who}"]]), label="models")
    tables = [table_of(rng, list(each), models, **options).assign(dataset=f"set {i}") for i, each in enumerate(sets)]
    table = pd.concat(tables, ignore_index=True)
    table = table if len(sets) > 1 else table.drop(columns="dataset")
    positive = data.draw(st.sampled_from([None, "a", "b"]), label="positive")
    agree(*both(tmp_path / data.draw(st.sampled_from(["p.csv", "p.parquet"])), table, positive=positive))
