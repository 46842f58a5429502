import pytest

from fairtrial.study.run.progress import RunSummary


def test_what_is_left_is_what_is_neither_stored_nor_done():
    summary = RunSummary(planned=50, stored=20, done=13, failures={"error": 2, "crash": 1})
    assert (summary.left, summary.failed) == (17, 3)
    line = summary.frame().iloc[0]
    assert (line["planned"], line["left"], line["failed"]) == (50, 17, 3)


@pytest.mark.parametrize(
    ("summary", "parts"),
    [
        (RunSummary(8, 8, 0), ("8 of 8 trials stored",)),
        (RunSummary(8, 0, 8, {}, 1.25), ("8 of 8 trials stored", "1.2 s")),
        (RunSummary(8, 0, 3), ("3 of 8 trials stored", "5 missing")),
        (
            RunSummary(8, 1, 3, {"memory": 1, "error": 0}, 2.0, interrupted=True),
            ("stopped: 4 of 8 trials stored", "4 missing", "1 failed (1 memory)"),
        ),
    ],
)
def test_text_has_the_counts(summary, parts):
    assert all(part in str(summary) for part in parts)
    assert summary._repr_html_() == f"<p>{summary}</p>"
