from __future__ import annotations

from rra import __version__

project = "rra"
author = "The rra authors"
project_copyright = "The rra authors"
version = release = __version__

extensions = ["myst_parser"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
nitpicky = True

exclude_patterns = ["_build", "adr/template.md"]
html_theme = "furo"
html_title = f"rra {release}"
html_copy_source = False
