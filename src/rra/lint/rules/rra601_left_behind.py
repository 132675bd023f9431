from __future__ import annotations

from collections.abc import Iterable

from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.rule import Rule

_SHOWN = 3


class LeftBehind(Rule):
    """A file lies beside the artifact's elements and does not travel.

    ## What it does

    Looks for files that belong to no element: not to the code, the data that `rra.yaml` declares,
    the guide, the environments, the launchers or the evidence. Outputs, hidden files and what
    `.rraignore` drops are passed over. Where the code is in place (`code.root: "."`), every
    file is part of it.

    ## Why is this bad?

    The artifact works here, where the file is, and not where it is pulled: a bundle holds the
    files of the elements and nothing else.

    ## How to fix

    Declare data under `data`, or move the file into the element that it belongs to. A file
    that is not needed goes elsewhere, or is named in `.rraignore`.

    ## Example

    Bad:

    ```text title="data/wine.csv"
    14.23,1.71,2.43
    ```

    Good:

    ```yaml title="rra.yaml"
    data:
      wine: {path: data/wine.csv, licence: CC-BY-4.0}
    ```

    ```text title="data/wine.csv"
    14.23,1.71,2.43
    ```
    """

    code = "RRA601"
    name = "left-behind"
    severity = Severity.WARNING
    profile = Profile.BASIC
    since = "0.1"
    clause = "bundle/nothing-left-behind"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield the first of those files, with how many there are."""
        files = context.left_behind
        for path in files[:_SHOWN]:
            message = "belongs to no element, so no bundle brings it"
            if files[_SHOWN:] and path == files[_SHOWN - 1]:
                message += f" ({len(files) - _SHOWN} more like it)"
            hint = "declare it under data in rra.yaml, move it, or name it in .rraignore"
            yield self.at(str(path), message, hint=hint)
