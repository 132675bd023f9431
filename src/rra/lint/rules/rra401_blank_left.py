from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from rra.artifact.layout import BLANK_MARK, MANIFEST
from rra.lint.context import Context, TextFile
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.rule import Rule

_BLANK = re.compile(re.escape(BLANK_MARK) + r":?\s*(?P<what>[^⟧\n]*)⟧?")


class BlankLeft(Rule):
    """A blank that a template left has not been filled in.

    ## What it does

    Looks for the mark `⟦fill: …⟧` in `rra.yaml`, `README.md` and the guide.

    ## Why is this bad?

    The blanks are what only the author knows: why a setting was chosen, what a repair
    changes. Scaffolding without that looks finished and tells a reader nothing.

    ## How to fix

    Replace the whole mark by what it asks for.

    ## Example

    Bad:

    ```markdown title="guide/GUIDE.md"
    # Guide

    ## Known limits

    ⟦fill: what this artifact does not reproduce, and why⟧
    ```

    Good:

    ```markdown title="guide/GUIDE.md"
    # Guide

    ## Known limits

    Only Table 1 is reproduced; the data of Table 2 may not be shared.
    ```
    """

    code = "RRA401"
    name = "blank-left"
    severity = Severity.ERROR
    profile = Profile.BASIC
    since = "0.1"
    clause = "guide/blanks"
    needs_artifact = False
    suppressible = False

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield each blank with what it asks for."""
        for file in _files(context):
            for match in _BLANK.finditer(file.text):
                what = match["what"].strip()
                message = f"still to be filled in: {what}" if what else "still to be filled in"
                hint = f"replace {BLANK_MARK} …⟧ by what it asks for"
                yield self.in_text(file, match.start(), message, hint=hint)


def _files(context: Context) -> Iterator[TextFile]:
    names = [PurePosixPath(MANIFEST)]
    if context.loaded is not None:
        names.append(PurePosixPath("README.md"))
        names += [path for path in context.elements["guide"] if path not in names]
        if context.guide_path not in names:
            names.append(context.guide_path)
    for name in names:
        file = context.text(name)
        if file is not None:
            yield file
