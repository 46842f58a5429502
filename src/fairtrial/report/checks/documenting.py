"""The manual's page of checks, written from the checks themselves."""

from __future__ import annotations

from fairtrial.report.checks.check import Check, registry
from fairtrial.report.sections.references import bibliography, works_of

_HEAD = """# Methodology checks

A report asks of every study what a careful reviewer would ask. Each question has a number that never changes and is never
given to another check. A check is *raised*, *passed* or *not applicable*; one that breaks *could not be made*, and costs
nothing but its own line. That a check passes means that it found nothing, not that nothing is there.

In Python:

```python
from fairtrial.report.checks import examine
from fairtrial.study import Study

study = Study(data=["iris", "wine"], learners=["gaussian-nb", "decision-tree"], resampling={"folds": 3})
for check, finding in examine(study.run("small.fairtrial", jobs=1, progress=False))[:2]:
    print(check.number, finding.outcome + ":", finding.words)
```

```text
FT008 raised: Wilcoxon's signed-rank test has 2 data sets on which learners can differ, and should have 6 or more.
FT016 raised: The rows of each data set are split only once: how much another partition would change is not known.
```

| number | check |
|---|---|
"""

_OWN = """
## Checks of your own

A check is a function of results. Register it, choose letters of your own for its number, and name its module in the entry-point
group `fairtrial.checks` of your package:

```py
from fairtrial.report.checks import check, passed, raised
from fairtrial.report.sentence import say


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
        return raised(say("The seed is the default one."))
    return passed(say("The study has a seed of its own."))
```

```toml
[project.entry-points."fairtrial.checks"]
mine = "my_package.my_checks"
```

Sentences hold no digits of their own: numbers come from the table of the check,
`shown(frame, "checks-lab001", line, column)`, which `raised(words, frame)` puts into the report beside them.
"""


def checks_page() -> str:
    """All checks of this package as Markdown: what each looks for, why, what to do, and the works that it cites."""
    own = [registry[number] for number in sorted(registry) if number.startswith("FT")]
    table = "".join(f"| [{one.number}](#{_anchor(one)}) | {one.title} |\n" for one in own)
    return _HEAD + table + "".join(_entry(one) for one in own) + _OWN


def _anchor(one: Check) -> str:
    return "".join(sign for sign in f"{one.number} {one.title}".lower().replace(" ", "-") if sign.isalnum() or sign == "-")


def _entry(one: Check) -> str:
    works = "".join(f"- {bibliography().get(each, each)}\n" for each in works_of(one.cite))
    return (
        f"\n## {one.number} {one.title}\n\n**Looks for** {one.looks_for}.\n\n**Why it matters.** {one.why.rstrip('.')}.\n\n"
        f"**Remedy:** {one.remedy.rstrip('.')}.\n\n{works}"
    )
