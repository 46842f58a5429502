"""Write docs/reference/checks.md from the registered checks: python docs/make_checks_page.py."""

from pathlib import Path

from fairtrial.report.checks import Check, registry
from fairtrial.report.sections.sources import read_bibliography, split_citation

PAGE = Path(__file__).parent / "reference" / "checks.md"

_HEAD = """# Methodology checks

Every report runs the checks that a careful reviewer would run. Each check has a number that never changes. Its outcome is
*raised*, *passed*, *not applicable* or *failed to run*. A passed check found no problem; it does not prove that there is none.

```python
from fairtrial import Study
from fairtrial.report.checks import run_checks

study = Study(data=["iris", "wine"], learners=["gaussian-nb", "decision-tree"], resampling={"folds": 3})
for check, finding in run_checks(study.run("small.fairtrial", jobs=1, progress=False))[:2]:
    print(check.number, finding.outcome + ":", finding.text)
```

```text
FT008 raised: The Wilcoxon signed-rank test has 2 data sets on which learners can differ; it needs at least 6.
FT016 raised: Each data set is split only once: the variation between partitions is unknown.
```

`run_checks` also takes a judgement (`fairtrial.judge`) or a verdict (`fairtrial.compare`) and runs the checks that apply to it.

| number | check |
|---|---|
"""
_CUSTOM_CHECKS = """
## Add a check

A check is a function of the report's source. Register it under a number with your own letters, and name its module in the
entry-point group `fairtrial.checks` of your package:

```py
from fairtrial.report.checks import check, report_passed, report_raised


@check(
    "LAB001",
    title="Default seed",
    looks_for="the seed 0",
    why="Studies with the same seed share their random splits.",
    remedy="declare a seed",
    cite="",
    texts={"raised": "the seed is {seed}, the default.", "passed": "the study declares a seed ({seed})."},
)
def check_seed(source):
    seed = source.get_results().archive.seed
    return report_raised(seed=seed) if seed == 0 else report_passed(seed=seed)
```

```toml
[project.entry-points."fairtrial.checks"]
mine = "my_package.my_checks"
```

The function returns values; the texts are filled from them. Pass `details=` a data frame to show a table with the check.
"""


def render_checks_page() -> str:
    """Render all checks of fairtrial as Markdown."""
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
        f"\n## {check.number} {check.title}\n\n**Looks for:** {check.looks_for}.\n\n"
        f"**Why it matters:** {check.why.rstrip('.')}.\n\n"
        f"**Remedy:** {check.remedy.rstrip('.')}.\n\n{works}"
    )


if __name__ == "__main__":
    PAGE.write_text(render_checks_page(), encoding="utf-8", newline="\n")
