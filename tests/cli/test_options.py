"""Options of the commands."""

import pytest

from fairtrial.cli.study import RESULT_VIEWS, get_results_view, override_limits, parse_shard, resolve_jobs
from fairtrial.errors import InputError
from fairtrial.study.records import ResourceLimits
from fairtrial.study.study import Study
from tests.study.archives import real_results


@pytest.mark.parametrize("text", ["0/3", "4/3", "3", "a/b", "1/0", "-1/3", "1/3/4", ""])
def test_a_shard_is_one_of_some_parts(text):
    with pytest.raises(InputError, match="shard must be I/N"):
        parse_shard(text)


def test_no_shard_is_the_whole():
    assert parse_shard(None) is None
    assert parse_shard(" 2/2 ") == (2, 2)


@pytest.mark.parametrize(
    ("time", "memory", "expected"),
    [
        (None, None, None),
        ("90", None, ResourceLimits(90, 2_000_000_000)),
        ("1.5", "none", ResourceLimits(1.5, None)),
        ("10 min", "500 MB", ResourceLimits(600, 500_000_000)),
        ("none", None, ResourceLimits(None, 2_000_000_000)),
        (None, "3000000", ResourceLimits(60, 3_000_000)),
    ],
)
def test_limits_that_are_told_go_before_those_of_the_study(time, memory, expected):
    study = Study(data=["iris"], learners=["c45"], limits={"time": "1 min", "memory": "2 GB"})
    assert override_limits(study, time, memory) == expected


def test_jobs_are_at_least_one():
    assert resolve_jobs(3) == 3
    assert resolve_jobs(None) >= 1
    with pytest.raises(InputError, match="jobs must be at least 1, got 0"):
        resolve_jobs(0)


def test_every_view_is_what_the_results_give():
    results = real_results()
    place = {"measure": None, "condition": None, "level": None}
    assert get_results_view(results, "summary", **place) == str(results)
    assert get_results_view(results, "verdict", **place) == str(results.verdict())
    assert get_results_view(results, "failures", **place).equals(results.failures())
    assert get_results_view(results, "times", **place, exact=True).equals(results.times())
    assert get_results_view(results, "scores", **place | {"measure": "kappa"}).equals(results.scores("kappa"))
    table = get_results_view(results, "table", **place | {"measure": "kappa"}).set_index("dataset")
    assert table.to_numpy() == pytest.approx(results.wide("kappa").to_numpy(), nan_ok=True)
    with pytest.raises(InputError, match="did you mean 'table'"):
        get_results_view(results, "tables", **place)
    assert len(RESULT_VIEWS) == len(set(RESULT_VIEWS))


def test_times_are_in_milliseconds_and_megabytes():
    results = real_results()
    exact, shown = results.times(), get_results_view(results, "times", measure=None, condition=None, level=None)
    units = ["fit (ms)", "predict (ms)", "fit CPU (ms)", "predict CPU (ms)", "memory (MB)"]
    assert list(shown) == ["dataset", "learner", *units, "note"]
    for before, after, factor in (
        ("fit_time", "fit (ms)", 1e3),
        ("predict_cpu", "predict CPU (ms)", 1e3),
        ("memory", "memory (MB)", 1e-6),
    ):
        assert shown[after].to_numpy() == pytest.approx(exact[before].to_numpy() * factor, nan_ok=True)


def test_robustness_has_an_interval_in_one_cell_and_lines_over_all_data_sets():
    results = real_results()
    place = {"measure": None, "condition": None, "level": None}
    exact = results.robustness()
    assert get_results_view(results, "robustness", **place, exact=True).equals(exact)
    shown = get_results_view(results, "robustness", **place)
    columns = ["condition", "level", "dataset", "learner", "clean", "noisy", "rla (low to high)", "ela (low to high)"]
    assert list(shown) == columns
    over_all = shown[shown["dataset"] == "(over all)"]
    assert len(shown) == len(exact) + len(results.robustness(by="all"))
    assert over_all["clean"].tolist() == results.robustness(by="all")["clean"].tolist()
    line = exact.iloc[0]
    same = shown[(shown[["condition", "level", "dataset", "learner"]] == line[columns[:4]]).all(axis=1)].iloc[0]
    assert same["ela (low to high)"] == f"{line['ela']:.4g} ({line['ela_low']:.4g} to {line['ela_high']:.4g})"


@pytest.mark.parametrize(
    ("command", "refusal"),
    [
        ("results STORE --level 0", "--level has no effect without --condition: add --condition, or remove --level"),
        ("results STORE --csv", "--csv has no effect on text"),
        ("results STORE --all --measure auc", "--all has no effect with --measure: remove one of them"),
        ("results STORE --all --explain", "--all has no effect with --explain"),
        ("results STORE --csv --explain", "--csv has no effect with --explain"),
        ("results STORE --show scores --condition class-noise", "--condition has no effect with --show scores"),
        ("results STORE --show scores --all", "--all has no effect with --show scores"),
        ("results STORE --show times --measure auc", "--measure has no effect with --show times: remove --measure"),
        ("results STORE --show robustness --condition class-noise --level 0.2", "--level has no effect with --show robustness"),
        ("results STORE --show verdict --csv", "--csv has no effect with --show verdict"),
        ("results STORE --show resampling --resampling kfold", "--resampling has no effect with --show resampling"),
        ("report STORE --format png", "--format has no effect without --figures: add --figures, or remove --format"),
        ("run STUDY --dry-run --quiet", "--quiet has no effect with --dry-run: remove one of them"),
        ("judge FILE --format png", "--format has no effect without --figures"),
        ("judge FILE --title Title", "--title has no effect without --report"),
        ("judge FILE --csv --all", "--csv has no effect with --all"),
        ("judge FILE --csv --explain", "--csv has no effect with --explain"),
        ("compare FILE --format png", "--format has no effect without --out"),
        ("compare FILE --test-fraction 0.3", "--test-fraction has no effect on scores of several data sets"),
        ("compare FILE --rows datasets --test-fraction 0.3", "--test-fraction has no effect on scores of several data sets"),
        ("audit iris --n-splits 3", "--n-splits has no effect without --scheme"),
        ("audit folds.zip --target class", "--target has no effect without --splits or --scheme: add --splits"),
        ("measures auc --csv", "--csv has no effect with NAME"),
        ("measures auc --needs scores", "--needs has no effect with NAME"),
        ("learners c45 --csv", "--csv has no effect with NAME"),
        ("reproduce --scale full", "--scale has no effect without NAME"),
        ("reproduce --quiet", "--quiet has no effect without NAME"),
    ],
)
def test_an_option_without_effect_is_refused(run, finished, study_file, tmp_path, command, refusal):
    scores = tmp_path / "scores.csv"
    scores.write_text("dataset,tree,bayes\n" + "\n".join(f"d{number},0.9,0.8" for number in range(6)))
    words = {"STORE": finished[0], "STUDY": study_file, "FILE": scores}
    result = run(*(words.get(word, word) for word in command.split()))
    assert result.exit_code == 2
    assert refusal in result.stderr
    assert result.stderr.count("\n") == 1
    assert not result.stdout


@pytest.mark.parametrize(
    ("command", "refusal"),
    [
        ("run STORE", "{STORE} is a results file, not a study file: pass the study file (*.toml)"),
        (
            "results STUDY",
            "{STUDY} is a study file, not a results file: pass the results file (*.fairtrial) that its run wrote",
        ),
        ("judge STORE", "export a results file with fairtrial export FILE --csv CSV"),
        ("judge FILE --level 95", "level must lie between 0 and 1, got 95.0: pass 0.95 for 95 %"),
        ("compare FILE --alpha 5", "alpha must lie between 0 and 1, got 5.0: pass 0.05 for 5 %"),
        ("report STORE --figures F --format jpg", "--format must be svg, png, pdf, html or json, got 'jpg': use png"),
        ("report STORE --out page.pdf", "the output file must end in .html, got 'page.pdf': use 'page.html'"),
        ("audit iris --scheme kfold --picture a.jpg", "must end in .svg, .png, .pdf, .html or .json, got 'a.jpg': use 'a.png'"),
    ],
)
def test_a_wrong_file_or_value_is_refused_with_a_remedy(run, finished, study_file, tmp_path, monkeypatch, command, refusal):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text("y_true,tree,bayes\n" + "yes,yes,no\nno,no,no\n" * 20)
    words = {"STORE": finished[0], "STUDY": study_file, "FILE": "scores.csv"}
    result = run(*(words.get(word, word) for word in command.split()))
    assert result.exit_code == 2
    assert refusal.format(**words) in result.stderr
    assert result.stderr.count("\n") == 1
