"""Reports, tables and figures. The entry points are `fairtrial.write_report` and `fairtrial.draw`.

Each `draw_*` function returns an Altair chart. `save` writes a chart to a file. Methodology checks are in
`fairtrial.report.checks`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairtrial.report.figures.comparison import (
        draw_pairs as draw_pairs,
        draw_ranks as draw_ranks,
        draw_strengths as draw_strengths,
        list_comparison_figures as list_comparison_figures,
    )
    from fairtrial.report.figures.critical_difference import draw_critical_difference as draw_critical_difference
    from fairtrial.report.figures.curves import (
        compute_roc_band as compute_roc_band,
        draw_brier as draw_brier,
        draw_calibration as draw_calibration,
        draw_cost as draw_cost,
        draw_gain as draw_gain,
        draw_intervals as draw_intervals,
        draw_precision_recall as draw_precision_recall,
        draw_roc as draw_roc,
        draw_tpr_fpr as draw_tpr_fpr,
    )
    from fairtrial.report.figures.environments import (
        draw_deterioration as draw_deterioration,
        draw_environments as draw_environments,
    )
    from fairtrial.report.figures.folds import (
        draw_audit as draw_audit,
        draw_rarest_class as draw_rarest_class,
        draw_splits as draw_splits,
    )
    from fairtrial.report.figures.learning_curve import draw_learning_curve as draw_learning_curve
    from fairtrial.report.figures.noise import build_case_frame as build_case_frame, draw_changes as draw_changes
    from fairtrial.report.figures.posterior import draw_density as draw_density, draw_simplex as draw_simplex
    from fairtrial.report.figures.projection import draw_projection as draw_projection
    from fairtrial.report.figures.registry import (
        list_figure_names as list_figure_names,
        list_figure_options as list_figure_options,
    )
    from fairtrial.report.figures.robustness import (
        draw_levels as draw_levels,
        draw_loss_surface as draw_loss_surface,
        draw_losses as draw_losses,
    )
    from fairtrial.report.figures.study_curves import find_cost_winners as find_cost_winners
    from fairtrial.report.figures.times import draw_times as draw_times
    from fairtrial.report.figures.tree import draw_tree as draw_tree
    from fairtrial.report.figures.tuning import draw_tuning as draw_tuning
    from fairtrial.report.files import (
        build_table as build_table,
        save as save,
        write_comparison as write_comparison,
        write_figures as write_figures,
        write_tables as write_tables,
    )
    from fairtrial.report.report import build_sections as build_sections
    from fairtrial.report.section import build_sentence as build_sentence, format_number as format_number
    from fairtrial.report.tables import to_latex as to_latex, to_markdown as to_markdown

__all__ = [
    "build_case_frame",
    "build_sections",
    "build_sentence",
    "build_table",
    "compute_roc_band",
    "draw_audit",
    "draw_brier",
    "draw_calibration",
    "draw_changes",
    "draw_cost",
    "draw_critical_difference",
    "draw_density",
    "draw_deterioration",
    "draw_environments",
    "draw_gain",
    "draw_intervals",
    "draw_learning_curve",
    "draw_levels",
    "draw_loss_surface",
    "draw_losses",
    "draw_pairs",
    "draw_precision_recall",
    "draw_projection",
    "draw_ranks",
    "draw_rarest_class",
    "draw_roc",
    "draw_simplex",
    "draw_splits",
    "draw_strengths",
    "draw_times",
    "draw_tpr_fpr",
    "draw_tree",
    "draw_tuning",
    "find_cost_winners",
    "format_number",
    "list_comparison_figures",
    "list_figure_names",
    "list_figure_options",
    "save",
    "to_latex",
    "to_markdown",
    "write_comparison",
    "write_figures",
    "write_tables",
]

_MODULES = {
    "build_case_frame": "figures.noise",
    "build_sections": "report",
    "build_sentence": "section",
    "build_table": "files",
    "compute_roc_band": "figures.curves",
    "draw_audit": "figures.folds",
    "draw_brier": "figures.curves",
    "draw_calibration": "figures.curves",
    "draw_changes": "figures.noise",
    "draw_cost": "figures.curves",
    "draw_critical_difference": "figures.critical_difference",
    "draw_density": "figures.posterior",
    "draw_deterioration": "figures.environments",
    "draw_environments": "figures.environments",
    "draw_gain": "figures.curves",
    "draw_intervals": "figures.curves",
    "draw_learning_curve": "figures.learning_curve",
    "draw_levels": "figures.robustness",
    "draw_loss_surface": "figures.robustness",
    "draw_losses": "figures.robustness",
    "draw_pairs": "figures.comparison",
    "draw_precision_recall": "figures.curves",
    "draw_projection": "figures.projection",
    "draw_ranks": "figures.comparison",
    "draw_rarest_class": "figures.folds",
    "draw_roc": "figures.curves",
    "draw_simplex": "figures.posterior",
    "draw_splits": "figures.folds",
    "draw_strengths": "figures.comparison",
    "draw_times": "figures.times",
    "draw_tpr_fpr": "figures.curves",
    "draw_tree": "figures.tree",
    "draw_tuning": "figures.tuning",
    "find_cost_winners": "figures.study_curves",
    "format_number": "section",
    "list_comparison_figures": "figures.comparison",
    "list_figure_names": "figures.registry",
    "list_figure_options": "figures.registry",
    "save": "files",
    "to_latex": "tables",
    "to_markdown": "tables",
    "write_comparison": "files",
    "write_figures": "files",
    "write_tables": "files",
}


def __getattr__(name: str) -> Any:
    """Import names on first use, because figures need altair, which is slow to import."""
    if name in _MODULES:
        return getattr(import_module(f"fairtrial.report.{_MODULES[name]}"), name)
    raise AttributeError(f"module 'fairtrial.report' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_MODULES])
