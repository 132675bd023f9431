from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from rra.artifact.layout import PATCHES_DIR, REPAIRS
from rra.lint.context import Context, TextFile
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.rule import Rule

_PATH = re.compile(
    r"(?<![\w.~$}\\-])"
    r"(?:/(?:home|Users)/(?P<unix>[A-Za-z_][\w.-]*)"
    r"|[A-Za-z]:(?:\\{1,4}|/)(?:Users|Documents and Settings)(?:\\{1,4}|/)(?P<windows>[\w.-]+))"
    r"(?:[\\/]+[\w.@+-]+)*"
)
_PLACEHOLDERS = {"user", "username", "you", "yourname", "your_name", "your-name", "name"}
_SHARED = {"shared", "public", "default"}
_PER_FILE = 3


class PersonalPath(Rule):
    r"""A file names a folder of one person's computer.

    ## What it does

    Looks for paths below `/home/…`, `/Users/…` and `C:\Users\…` in the code, the launchers and
    the guide. Paths that a repair removed may be quoted in the guide.

    ## Why is this bad?

    The path exists on one machine. The script fails on every other one, or worse, goes on
    without its data; and the path tells who the author is.

    ## How to fix

    Take the place from the launcher: `RRA_DATA_DIR` for inputs, `RRA_OUTPUT_DIR` for results,
    or a path relative to the code. Record the change as a repair of category `path`.

    ## Example

    Bad:

    ```python title="code/main.py"
    import pathlib

    wine = pathlib.Path("/home/agnes/data/wine.csv").read_text()
    ```

    Good:

    ```python title="code/main.py"
    import os
    import pathlib

    wine = pathlib.Path(os.environ["RRA_DATA_DIR"], "wine.csv").read_text()
    ```
    """

    code = "RRA102"
    name = "personal-path"
    severity = Severity.WARNING
    profile = Profile.BASIC
    since = "0.1"
    clause = "launcher/paths"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield the first paths of each file."""
        quoted = _repaired(context)
        guide = set(context.elements["guide"])
        for file in context.texts("code", "launchers", "guide"):
            if _is_repair_text(file):
                continue
            found = [
                match
                for match in _matches(file)
                if not (file.path in guide and match.group() in quoted)
            ]
            shown = found[:_PER_FILE]
            for match in shown:
                message = f"{match.group()} is a path of one person's computer"
                if match is shown[-1] and len(found) > len(shown):
                    message += f" ({len(found) - len(shown)} more in this file)"
                hint = "take it from RRA_DATA_DIR or RRA_OUTPUT_DIR, or make it relative"
                yield self.in_text(file, match.start(), message, hint=hint)


def _matches(file: TextFile) -> Iterator[re.Match[str]]:
    for match in _PATH.finditer(file.text):
        owner = (match["unix"] or match["windows"]).lower()
        if owner not in _PLACEHOLDERS | _SHARED:
            yield match


def _is_repair_text(file: TextFile) -> bool:
    return str(file.path) == REPAIRS or file.path.is_relative_to(PATCHES_DIR)


def _repaired(context: Context) -> frozenset[str]:
    """Return the paths that repairs speak about; the guide may quote them."""
    texts = [file for file in context.texts("guide") if _is_repair_text(file)]
    return frozenset(match.group() for file in texts for match in _PATH.finditer(file.text))
