"""Settings of Sphinx for the site; `python -m tools.site` calls it."""

import sys
from importlib import import_module
from importlib.metadata import version as version_of
from types import ModuleType

from tools.site.api import adapter_outlines, module_pages, with_code_blocks

project = "Satchel"
release = version_of("satchel")
project_copyright = "the authors of Satchel"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]

# Headings have the same anchors as on a code host, so that one link does for both.
myst_heading_anchors = 4

autodoc_member_order = "bysource"
napoleon_use_ivar = True
# Two modules have a `Format`; what a signature names links to the first.
suppress_warnings = ["ref.python"]
default_role = "py:obj"
python_maximum_signature_line_length = 80
python_use_unqualified_type_names = True

# Quotes in code have to stay what they are.
smartquotes = False
html_theme = "furo"
html_title = f"Satchel {release}"
html_copy_source = False
html_show_sphinx = False

# Doors import a name when it is first asked for, and autodoc does not ask.
for name in dict(module_pages()):
    if not name.startswith("satchel.adapters."):
        module = import_module(name)
        module.__doc__ = with_code_blocks(module.__doc__ or "")

for stem, source in adapter_outlines():
    name = f"satchel.adapters.{stem}"
    outline = ModuleType(name)
    exec(compile(source, f"{stem}.py", "exec"), vars(outline))  # noqa: S102 - ours
    for each in outline.__all__:
        getattr(outline, each).__module__ = name
    sys.modules[name] = outline
