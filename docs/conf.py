"""Configuration of the Sphinx documentation. `make docs` builds it into site/ and treats warnings as errors."""

import sys
from importlib import import_module
from importlib.metadata import version as get_version
from inspect import ismodule
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "fairtrial"
release = version = get_version("fairtrial")

extensions = [
    "myst_nb",  # Markdown pages and notebooks
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    # docs/_ext
    "cli_reference",
    "docstring_markup",
    "gallery_links",
    "layer_graph",
    "measure_catalogue",
    "result_schema",
    "study_keys",
]
exclude_patterns = ["_build", "gallery/*.ipynb"]  # the gallery was already run
templates_path = ["_templates"]
default_role = "code"  # docstrings put code in single backticks
smartquotes = False  # keep quotation marks and --, because much of the text quotes code
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Markdown pages: admonitions between ::: fences, and links to headings such as [text](page.md#the-heading).
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

# The notebooks contain no output: each build runs them.
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True

# API pages: docstrings describe the types, so signatures show only names and defaults, one parameter per line if they are long.
autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"
python_maximum_signature_line_length = 100
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False

PUBLIC_MODULES = [
    *("conditions", "data", "data.simulate", "errors", "learners", "measures", "predictions", "report", "report.checks"),
    *("resampling", "significance", "study", "testing"),
]


def name_class_pages() -> dict[str, str]:
    """Return page names for classes whose names differ from another name only by case, e.g. `Interval` and `interval`."""
    pages = {}
    for module_name in PUBLIC_MODULES:
        module = import_module(f"fairtrial.{module_name}")
        names = {name for name in dir(module) if not ismodule(getattr(module, name))}
        class_names = {name for name in names if name != name.lower() and name.lower() in names}
        pages |= {f"{module.__name__}.{name}": f"{module.__name__}.{name}-class" for name in class_names}
    return pages


autosummary_filename_map = name_class_pages()

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "image_scrapers": ("altair_scraper.scrape_chart",),
    "reset_modules": (),
    "ignore_repr_types": "altair",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
}

html_theme = "pydata_sphinx_theme"
html_title = "fairtrial"
html_static_path = ["_static"]
html_css_files = ["fairtrial.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "fairtrial"},
    "header_links_before_dropdown": 7,
    "show_prev_next": True,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "footer_start": [],
    "footer_end": [],
}
