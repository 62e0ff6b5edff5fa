"""Sphinx settings; the pages of the API reference are written from ``omnirank.__all__``."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from importlib.metadata import version as installed_version
from pathlib import Path

import matplotlib

import omnirank
from omnirank.data.task_registry import TASKS

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from _api_groups import GROUPS, MODULES  # noqa: E402 - found through the path above
from _api_pages import (  # noqa: E402 - found through the path above
    write_api_pages,
    write_measures_table,
    write_methods_table,
    write_settings_table,
)

matplotlib.use("Agg")

project = "omnirank"
author = "The omnirank developers"
copyright = f"2026, {author}"
release = version = installed_version("omnirank")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "_mathml",
    "_shown",
]
root_doc = "index"
exclude_patterns = ["_build", "api/generated/*.txt"]

html_theme = "furo"
html_title = f"omnirank {release}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_css_files = ["omnirank.css"]
html_math_renderer = "mathml"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc's Parameters sections say it in words
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"plot_",
    "ignore_pattern": r"(^|/)spacecraft\.py|__init__\.py",
    "download_all_examples": False,
    "write_computation_times": False,
    "show_memory": False,
    "remove_config_comments": True,
}

# Scripts of the gallery show warnings: without the folder in which the pages happen to be built.
warnings.formatwarning = lambda message, category, *_, **__: f"{category.__name__}: {message}\n"

# sphinx-gallery's settings hold functions of its own, which Sphinx cannot keep between builds.
suppress_warnings = ["config.cache"]

write_api_pages(omnirank, [import_module(name) for name in MODULES], GROUPS, HERE / "api" / "generated")
write_methods_table(omnirank.methods(data=None), HERE / "api" / "generated" / "methods.txt")
write_measures_table(TASKS, HERE / "api" / "generated" / "measures.txt")
write_settings_table(HERE / "api" / "generated" / "clus.txt")
