"""Write docs/reference/checks.md and a page for each registered check: python docs/make_checks_page.py.

The section "Example" of a check's page is written by hand and kept.
"""

from pathlib import Path

from fairtrial.report.checks import Check, registry
from fairtrial.report.sections.sources import read_bibliography, split_citation

PAGE = Path(__file__).parent / "reference" / "checks.md"
FOLDER = PAGE.with_suffix("")
EXAMPLE = "## Example\n"

_HEAD = """# Methodology checks

Every report runs the checks that a careful reviewer would run. Each check has a number that never changes. The outcome is
*raised*, *passed*, *not applicable* or *failed to run*. A passed check found no problem; it does not prove that there is none.

```python
from fairtrial import Study
from fairtrial.report.checks import run_checks

study = Study(data=["iris", "wine"], learners=["gaussian-nb", "decision-tree"], resampling={"folds": 3})
results = study.run("small.fairtrial", jobs=1, progress=False)
print(*run_checks(results)[:2], sep="\\n")
```

```text
FT008 raised: The Wilcoxon signed-rank test has 2 data sets on which learners can differ; it needs at least 6.
FT016 raised: Each data set is split only once: the variation between partitions is unknown.
```

`run_checks` also accepts a judgement (`fairtrial.judge`) or a verdict (`fairtrial.compare`), and runs the checks that apply to
it. `run_checks(results, ["FT008"])` runs one check. The page of each check gives the reason, a remedy and an example.

| number | check |
|---|---|
"""
_CUSTOM_CHECKS = """
## Add a check

A check is a function that receives the source of the report. Register it under a number with your own prefix, and name its
module in the entry-point group `fairtrial.checks` of your package:

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

The function returns an outcome with the values that replace the placeholders in the texts. To show a table with the check, pass
a data frame as `details=`.
"""
_CONTENTS = """
```{toctree}
:hidden:
:glob:

checks/*
```
"""


def list_checks() -> list[Check]:
    """List the checks of fairtrial by number."""
    return [registry[number] for number in sorted(registry) if number.startswith("FT")]


def render_checks_page() -> str:
    """Render the list of all checks as Markdown."""
    table = "".join(f"| [{check.number}](checks/{check.number.lower()}.md) | {check.title} |\n" for check in list_checks())
    return _HEAD + table + _CUSTOM_CHECKS + _CONTENTS


def render_check_page(check: Check, example: str) -> str:
    """Render the page of a check as Markdown. `example` is the text from the heading "Example" on."""
    works = "".join(f"- {read_bibliography().get(work, work)}\n" for work in split_citation(check.cite))
    return (
        f"# {check.number} {check.title}\n\n**Looks for:** {check.looks_for}.\n\n"
        f"**Why it matters:** {check.why.rstrip('.')}.\n\n"
        f"**Remedy:** {check.remedy.rstrip('.')}.\n\n{example.rstrip()}\n\n## References\n\n{works}"
    )


def get_page(check: Check) -> Path:
    """Return the path of the page of a check."""
    return FOLDER / f"{check.number.lower()}.md"


def read_example(check: Check) -> str:
    """Read the example from the page of a check; empty if there is none."""
    page = get_page(check)
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    return "".join(text.partition(EXAMPLE)[1:]).partition("\n## References\n")[0]


if __name__ == "__main__":
    PAGE.write_text(render_checks_page(), encoding="utf-8", newline="\n")
    for current_check in list_checks():
        text = render_check_page(current_check, read_example(current_check))
        get_page(current_check).write_text(text, encoding="utf-8", newline="\n")
