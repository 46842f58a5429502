"""Writes docs/checks.md, the manual's page of checks, from the checks themselves: python docs/make_checks_page.py."""

from pathlib import Path

from fairtrial.report.checks import Check, registry
from fairtrial.report.sections.sources import read_bibliography, split_citation

PAGE = Path(__file__).with_name("checks.md")

_HEAD = """# Methodology checks

A report asks of every study what a careful reviewer would ask. Each question has a number that never changes and is never
given to another check. A check is *raised*, *passed* or *not applicable*; one that breaks *could not be made*, and costs
nothing but its own line. That a check passes means that it found nothing, not that nothing is there.

In Python:

```python
from fairtrial import Study
from fairtrial.report.checks import run_checks

study = Study(data=["iris", "wine"], learners=["gaussian-nb", "decision-tree"], resampling={"folds": 3})
for check, finding in run_checks(study.run("small.fairtrial", jobs=1, progress=False))[:2]:
    print(check.number, finding.outcome + ":", finding.sentence)
```

```text
FT008 raised: Wilcoxon's signed-rank test has 2 data sets on which learners can differ, and should have 6 or more.
FT016 raised: The rows of each data set are split only once: how much another partition would change is not known.
```

| number | check |
|---|---|
"""
_CUSTOM_CHECKS = """
## Checks of your own

A check is a function of results. Register it, choose letters of your own for its number, and name its module in the entry-point
group `fairtrial.checks` of your package:

```py
from fairtrial.report import build_sentence
from fairtrial.report.checks import check, report_passed, report_raised


@check(
    "LAB001",
    title="Study without a seed of its own",
    looks_for="the seed 0",
    why="Everybody has it.",
    remedy="declare a seed",
    cite="",
)
def default_seed(results):
    if results.archive.seed == 0:
        return report_raised(build_sentence("The seed is the default one."))
    return report_passed(build_sentence("The study has a seed of its own."))
```

```toml
[project.entry-points."fairtrial.checks"]
mine = "my_package.my_checks"
```

Sentences hold no digits of their own: numbers come from the table of the check,
`format_number(frame, "checks-lab001", line, column)`, which `report_raised(sentence, frame)` puts into the report beside them.
"""


def render_checks_page() -> str:
    """All checks of this package as Markdown: what each looks for, why, what to do, and the works that it cites."""
    builtin_checks = [registry[number] for number in sorted(registry) if number.startswith("FT")]
    table = "".join(f"| [{check.number}](#{_format_anchor(check)}) | {check.title} |\n" for check in builtin_checks)
    return _HEAD + table + "".join(_render_entry(check) for check in builtin_checks) + _CUSTOM_CHECKS


def _format_anchor(check: Check) -> str:
    return "".join(
        character
        for character in f"{check.number} {check.title}".lower().replace(" ", "-")
        if character.isalnum() or character == "-"
    )


def _render_entry(check: Check) -> str:
    works = "".join(f"- {read_bibliography().get(work, work)}\n" for work in split_citation(check.cite))
    return (
        f"\n## {check.number} {check.title}\n\n**Looks for** {check.looks_for}.\n\n"
        f"**Why it matters.** {check.why.rstrip('.')}.\n\n"
        f"**Remedy:** {check.remedy.rstrip('.')}.\n\n{works}"
    )


if __name__ == "__main__":
    PAGE.write_text(render_checks_page(), encoding="utf-8", newline="\n")
