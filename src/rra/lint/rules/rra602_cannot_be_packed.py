from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.rule import Rule

_SHOWN = 20


class CannotBePacked(Rule):
    """A name or a link is one that no archive may hold.

    ## What it does

    Looks at the name and the kind of each file that would travel: two names that differ in case
    only, names of devices, control characters, a dot or a space at the end, symbolic links
    that lead out of their layer, pipes and sockets.

    ## Why is this bad?

    `rra lock` and `rra pack` refuse them, since they do not unpack to the same files everywhere.
    Some file systems take `Data.csv` and `data.csv` for one file; a link to a place on this
    machine leads nowhere on another.

    ## How to fix

    Rename the file, and replace the link by a copy of what it leads to. Code that is not
    needed is left out by `code.exclude` in `rra.yaml`.

    ## Example

    Bad:

    ```text title="code/Data.csv"
    14.23,1.71,2.43
    ```

    ```text title="code/data.csv"
    14.23,1.71,2.43
    ```

    Good:

    ```text title="code/data.csv"
    14.23,1.71,2.43
    ```
    """

    code = "RRA602"
    name = "cannot-be-packed"
    severity = Severity.ERROR
    profile = Profile.BASIC
    since = "0.1"
    clause = "canonical-tar/names"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield the first of those files, with how many there are."""
        problems = context.unpackable
        for number, problem in enumerate(problems[:_SHOWN], start=1):
            message = problem.message
            if number == _SHOWN and problems[_SHOWN:]:
                message += f" ({len(problems) - _SHOWN} more)"
            finding = self.at(problem.path, message, hint=problem.hint)
            yield dataclasses.replace(finding, clause=problem.clause)
