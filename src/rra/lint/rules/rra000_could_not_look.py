from __future__ import annotations

from collections.abc import Iterable

from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.rule import Rule


class CouldNotLook(Rule):
    """A rule could not do its work.

    ## What it does

    Stands for the linter itself: a rule that failed, a tool that it needs and that is not
    installed, or a file that may not be read.

    ## Why is this bad?

    What was not looked at was not found in order. A silent gap would read like a clean result.

    ## How to fix

    Install the tool that the message names, or make the file readable. When the message says
    that a rule failed, that is a fault of `rra`: please report it with the artifact, if you can.

    ## Example

    There is none to copy: it depends on the machine. On a machine without git, for instance:

    ```text
    rra.yaml: error RRA000 RRA101 (code-differs-from-source) could not look: git is not installed
    ```
    """

    code = "RRA000"
    name = "could-not-look"
    severity = Severity.ERROR
    profile = Profile.BASIC
    since = "0.1"
    clause = ""
    needs_artifact = False
    suppressible = False

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield nothing: the engine makes these findings."""
        del context
        return ()
