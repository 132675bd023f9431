from __future__ import annotations

from collections.abc import Iterable

from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.rule import Rule


class UnknownKey(Rule):
    """A document has a key that the format does not know.

    ## What it does

    Names each key of a document that the schema does not define, with the nearest key that it
    does define, each key that is deprecated, with what replaces it, and a document that follows
    a later version than is known here. Keys that start with `x-` are free for everybody's own
    use.

    ## Why is this bad?

    Unknown keys are kept, so that documents of a later version can be read. But nothing acts
    on them: a misspelt `tolerence` changes no verdict, and nobody notices.

    ## How to fix

    Use the key that the message suggests, or give a key of your own a name that starts
    with `x-`.

    ## Example

    Bad:

    ```yaml title="rra.yaml"
    keyword: [wine, discriminant analysis]
    ```

    Good:

    ```yaml title="rra.yaml"
    keywords: [wine, discriminant analysis]
    x-lab: {shelf: 12}
    ```
    """

    code = "RRA002"
    name = "unknown-key"
    severity = Severity.WARNING
    profile = Profile.BASIC
    since = "0.1"
    clause = "documents/unknown-key"
    needs_artifact = False

    def check(self, context: Context) -> Iterable[Finding]:
        """Pass on the warnings that the loader found."""
        for problem in context.problems:
            if problem.severity == "warning":
                yield Finding(
                    self.code,
                    self.severity,
                    problem.message,
                    problem.path,
                    problem.line,
                    problem.column,
                    problem.pointer,
                    problem.hint,
                    problem.clause or self.clause,
                )
