"""Outcomes as text, frame and HTML."""

from fairtrial._findings import Finding
from fairtrial.significance.outcome import Effect, Outcome

OUTCOME = Outcome(
    "friedman",
    9.28,
    0.0258,
    df=3,
    n=14,
    variant="ties corrected",
    ties=Finding.of("tied_ranks"),
    effect=Effect("Kendall's W", 0.22, 0.05, 0.5),
    details={"R+": 93.0},
    caveats=(Finding.of("constant_folds", datasets=("<b>iris</b>",)),),
)


def test_text_and_frame_have_the_same_numbers():
    for part in ("chi2 = 9.28", "df = 3", "p = 0.026", "n = 14"):
        assert part in str(OUTCOME)
    line = OUTCOME.frame().iloc[0]
    assert (line["statistic"], line["p_value"], line["df"], line["R+"]) == (9.28, 0.0258, "3", 93.0)


def test_summary_contains_result_effect_and_findings():
    assert [finding.kind for finding in OUTCOME.findings] == ["tied_ranks", "constant_folds"]
    for part in (str(OUTCOME)[1:], str(OUTCOME.effect), "<b>iris</b>"):
        assert part in OUTCOME.summary


def test_html_is_escaped():
    assert "<b>" not in OUTCOME._repr_html_()


def test_two_degrees_of_freedom_and_none():
    outcome = Outcome("iman_davenport", 3.69, 0.0198, df=(3, 39), n=14)
    assert outcome.frame().loc[0, "df"] == "3, 39"
    assert outcome.symbol == "F"
    assert "df" not in str(Outcome("sign_test", 9, 0.02, n=10))


def test_undefined_values_are_not_printed_as_nan():
    nan = float("nan")
    outcome = Outcome("paired_t", nan, nan, df=9, n=10, effect=Effect("mean difference", 0.1, nan, nan))
    assert "nan" not in outcome.summary


def test_effect_without_limits_has_no_interval():
    nan = float("nan")
    assert "CI" in str(Effect("cohens_d", 0.5, 0.1, 0.9))
    assert "CI" not in str(Effect("cohens_d", 0.5, nan, nan))
