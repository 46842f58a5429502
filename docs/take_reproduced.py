"""Copy the pages, tables and figures of full runs to docs/reproduced. Results files stay in the folder of the run.

Run `fairtrial reproduce all --scale full --out FOLDER`, then `python docs/take_reproduced.py FOLDER`.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pandas as pd

from fairtrial.report.tables import to_markdown
from fairtrial.reproduce import load_experiments
from fairtrial.reproduce.claim import KINDS, VERDICTS, describe_verdict
from fairtrial.reproduce.papers import PAPERS, read_errata

MAX_TABLE_SIZE = 300_000  # bytes; larger tables are not copied
OPENING = """# Reproduction results

We repeated seven experiments from five papers in full. The table counts the claims of each paper by verdict. [How claims are
judged](../reproduce.md#how-claims-are-judged) states the rules, which are the same for all papers.
"""
CLAIMS = """## Claims of the papers

The column "sensitivity" gives the verdicts for variants of the main run, such as another interpretation of a setting that the
paper does not state. The page of each experiment gives the numbers.
"""
ERRATA = """## Errors in the papers

We found these errors when we recomputed results from the papers' own numbers or data.
"""
OTHERS = {
    "printed": "We recomputed these numbers from printed input, or obtained them again with the same data and settings.",
    "own": "fairtrial makes these claims in addition to those of the papers. They are judged by the same rules.",
    "target": "We set these targets for the agreement with published numbers. The targets are not claims of the papers.",
}


def copy_runs(source: Path, target: Path) -> None:
    """Replace the pages of all experiments in the source folder, and write the overview of all experiments."""
    for page in sorted(source.glob("*/index.md")):
        folder = target / page.parent.name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        tables = [file for file in page.parent.glob("*.csv") if file.stat().st_size <= MAX_TABLE_SIZE]
        figures = [_choose_smaller(file) for file in page.parent.glob("*.png")]
        for file in [page, page.with_name("summary.json"), *tables, *figures]:
            shutil.copyfile(file, folder / file.name)
        _update_links(folder / "index.md")
    (target / "index.md").write_text(build_overview(target), encoding="utf-8")


def _choose_smaller(figure: Path) -> Path:
    """Return the PNG or the SVG file of a figure, whichever is smaller."""
    return min(figure, figure.with_suffix(".svg"), key=lambda file: file.stat().st_size)


def _update_links(page: Path) -> None:
    """Let the links of a page refer to the files that were copied."""
    lines = [_update_link(line, page.parent) for line in page.read_text(encoding="utf-8").splitlines()]
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _update_link(line: str, folder: Path) -> str:
    if line.startswith("![") and not (folder / line[line.rindex("(") + 1 : -1]).is_file():
        return line.removesuffix(".png)") + ".svg)"
    if line.startswith("[CSV](") and not (folder / line[6:-1]).is_file():
        return f"A run writes the whole table to `{line[6:-1]}`."
    return line


def build_overview(folder: Path) -> str:
    """Write the overview: verdicts by paper, then the answers, the claims, the errata, and our own claims and targets."""
    names = [name for name in load_experiments() if (folder / name / "summary.json").is_file()]
    claims = pd.concat([pd.read_csv(folder / name / "claims.csv").assign(experiment=name) for name in names])
    claims = claims.assign(sensitivity=claims["sensitivity"].fillna(""))
    papers = {
        key: [name for name in names if load_experiments()[name].paper is paper]
        for key, paper in PAPERS.items()
        if any(load_experiments()[name].paper is paper for name in names)
    }
    parts = [OPENING, _count_verdicts(claims, papers)]
    for key, experiments in papers.items():
        parts += [f"## {PAPERS[key].short}", *(_summarise(folder, name) for name in experiments), PAPERS[key].reference]
    of_papers = claims[claims["kind"] == "claim"]
    parts.append(CLAIMS)
    parts += [_list_claims(of_papers, PAPERS[key].short, experiments) for key, experiments in papers.items()]
    errata = read_errata().rename(columns={"experiment": "page"})
    parts += [ERRATA, _format_table(errata.assign(page=[_link(name) for name in errata["page"]]))]
    for kind, text in OTHERS.items():
        chosen = claims[claims["kind"] == kind]
        if len(chosen):
            parts += [f"## {KINDS[kind]}", text, _list_claims(chosen, "", names)]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def _format_table(table: pd.DataFrame) -> str:
    """Format a table whose cells may contain links to the pages of experiments."""
    text = to_markdown(table, better=None).strip()
    for name in load_experiments():
        text = text.replace(f"\\[{name}\\]({name}/index.md)", _link(name))
    return text


def _link(name: str) -> str:
    return f"[{name}]({name}/index.md)"


def _count_verdicts(claims: pd.DataFrame, papers: dict[str, list[str]]) -> str:
    counts = claims[claims["kind"] == "claim"].groupby(["experiment", "verdict"]).size()
    rows = [
        {"paper": f"{PAPERS[key].short}: {', '.join(map(_link, experiments))}"}
        | {verdict: sum(int(counts.get((name, verdict), 0)) for name in experiments) for verdict in VERDICTS}
        for key, experiments in papers.items()
    ]
    return _format_table(pd.DataFrame(rows))


def _summarise(folder: Path, name: str) -> str:
    """Return the answer and the main figure of an experiment, both with a link to its page."""
    summary = json.loads((folder / name / "summary.json").read_text(encoding="utf-8"))
    files = [file for suffix in ("svg", "png") if (file := folder / name / f"{summary['figure']}.{suffix}").is_file()]
    figures = [f"[![{load_experiments()[name].title}]({name}/{file.name})]({name}/index.md)" for file in files[:1]]
    return "\n\n".join([f"{summary['answer']} ({_link(name)})", *figures])


def _list_claims(claims: pd.DataFrame, heading: str, experiments: list[str]) -> str:
    """List the claims of some experiments as a table, in the order of the verdicts."""
    chosen = claims[claims["experiment"].isin(experiments)]
    if chosen.empty:
        return ""
    order = chosen["verdict"].map({verdict: i for i, verdict in enumerate(VERDICTS)})
    chosen = chosen.iloc[order.argsort(kind="stable")]
    table = chosen[["claim", "verdict", "sensitivity"]].assign(
        verdict=[describe_verdict(verdict, kind) for verdict, kind in zip(chosen["verdict"], chosen["kind"], strict=True)],
        page=[_link(name) for name in chosen["experiment"]],
    )
    title = f"### {heading}\n\n" if heading else ""
    return title + _format_table(table.reset_index(drop=True))


if __name__ == "__main__":
    copy_runs(Path(sys.argv[1]), Path(__file__).parent / "reproduced")
