"""How the documentation is built: ``make docs``.

The pages are Markdown (MyST), the reference comes from docstrings (numpydoc) and the gallery from
the scripts in ``examples/``, which are run. Nothing is loaded from the network, neither while
building nor by a reader's browser.
"""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import srsg  # noqa: E402

project = "srsg"
author = "The srsg developers"
project_copyright = "The srsg developers"
version = release = srsg.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "myst_parser",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "command_options",
    "linked_pictures",
    "mathml",
    "underscores",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = [
    "results/*",  # the archive: docs/results/README.md
    "_build",
    "reference/generated/options.md",
    "sg_execution_times.rst",
    "gallery/sg_execution_times.rst",
]
templates_path = ["_templates"]
# A reference to a name of ours that leads nowhere is an error; those of others are not looked up.
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r"(?!srsg\.).*")]

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's sections name the types
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# myst-parser uses names that Sphinx will rename in two versions.
warnings.filterwarnings("ignore", category=DeprecationWarning, module="myst_parser")

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "gallery_order.InOrder",
    "download_all_examples": False,
    "show_signature": False,
    "capture_repr": (),  # what a line of code returns is not shown, only what is printed
    "remove_config_comments": True,
    "reset_modules": ("matplotlib",),
    "doc_module": ("srsg",),
    "backreferences_dir": "gallery/backreferences",
    "inspect_global_variables": False,
    "plot_gallery": os.environ.get("SRSG_DOCS_EXAMPLES", "1") == "1",
    "write_computation_times": False,
}

wide_pages = ["results", "comparison"]  # tables take the room of the table of contents

html_theme = "pydata_sphinx_theme"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["srsg.css"]
html_favicon = "_static/favicon.svg"
html_context = {"default_mode": "auto"}
html_title = f"srsg {release}"
html_domain_indices = False
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {
    page: [] for page in ("index", "gallery/index", "results", "comparison", "glossary", "cite")
}
html_theme_options = {
    "logo": {
        "text": "srsg",
        "image_light": "_static/favicon.svg",
        "image_dark": "_static/favicon.svg",
        "alt_text": "srsg",
    },
    "header_links_before_dropdown": 8,
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "secondary_sidebar_items": {"**": ["page-toc"], **{page: [] for page in wide_pages}},
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
