"""Outcomes show themselves."""

from fairtrial.significance.outcome import Effect, Outcome

OUTCOME = Outcome(
    "friedman",
    9.28,
    0.0258,
    df=3,
    n=14,
    variant="tie-corrected",
    ties="mean ranks",
    effect=Effect("Kendall's W", 0.22, 0.05, 0.5),
    details={"R+": 93.0},
    caveats=("no <b>caveat</b>",),
)


def test_text_frame_and_words_tell_the_same():
    assert str(OUTCOME) == "friedman (tie-corrected): statistic 9.28, df = 3, p = 0.0258, n = 14"
    line = OUTCOME.frame().iloc[0]
    assert (line["statistic"], line["p_value"], line["df"], line["R+"]) == (9.28, 0.0258, "3", 93.0)
    assert "Kendall's W 0.22 (95 % interval 0.05 to 0.5)" in OUTCOME.summary
    assert OUTCOME.summary.endswith("no <b>caveat</b>.")


def test_html_is_escaped():
    assert "<b>" not in OUTCOME._repr_html_()


def test_two_degrees_of_freedom_and_none():
    assert "df = 3, 39" in str(Outcome("iman_davenport", 3.69, 0.0198, df=(3, 39), n=14))
    assert "df" not in str(Outcome("sign_test", 9, 0.02, n=10))
