from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from rra import __version__

if TYPE_CHECKING:
    from sphinx.application import Sphinx

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


SPEC = Path(__file__).resolve().parent.parent / "spec"
LINK = re.compile(r"\[(?P<text>[^\]\n]*)\]\((?P<target>[^)#\s]+)(?P<rest>#[^)\s]*)?\)")


def bring_specification(app: Sphinx) -> None:
    """Put the pages of spec/ where Sphinx reads them; the folder is made anew by each build."""
    target = Path(app.srcdir) / "spec"
    shutil.rmtree(target, ignore_errors=True)
    pages = sorted(path.relative_to(SPEC) for path in SPEC.rglob("*.md"))
    for page in pages:
        text = (SPEC / page).read_text(encoding="utf-8")
        if page.name == "README.md":
            others = [str(one.with_suffix("")) for one in pages if one != page]
            text += "\n".join(["", "```{toctree}", ":hidden:", "", *others, "```", ""])
        (target / page).parent.mkdir(parents=True, exist_ok=True)
        (target / page).write_text(without_links_outside(text, SPEC / page), encoding="utf-8")


def without_links_outside(text: str, page: Path) -> str:
    """Return a page with links to files beside spec/, such as schemas, as their text alone."""

    def kept(found: re.Match[str]) -> str:
        inside = (page.parent / found["target"]).resolve().is_relative_to(SPEC)
        return found[0] if inside or ":" in found["target"] else found["text"]

    return LINK.sub(kept, text)


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", bring_specification)
