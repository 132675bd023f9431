from __future__ import annotations

from collections.abc import Iterable

from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.near import suggestion
from rra.lint.rule import Rule, rules
from rra.lint.suppression import read_suppressions


class SuppressionWithoutReason(Rule):
    """A finding is to be overlooked, and nobody says why.

    ## What it does

    Reads `x-lint: {ignore: …}` in `rra.yaml`. Each entry needs the code of a rule that may be
    overlooked and a reason in words; an entry that lacks either has no effect and is reported.

    ## Why is this bad?

    A reader of the artifact sees the reason beside the finding and can judge it. Without one,
    the rule was merely switched off.

    ## How to fix

    Write the reason, for all files or for some: `RRA102: {reason: …, paths: ["code/old/*"]}`.

    ## Example

    Bad:

    ```yaml title="rra.yaml"
    x-lint:
      ignore:
        RRA102: ""
    ```

    Good:

    ```yaml title="rra.yaml"
    x-lint:
      ignore:
        RRA102: the path stands in a comment of the original authors
    ```
    """

    code = "RRA004"
    name = "suppression-without-reason"
    severity = Severity.ERROR
    profile = Profile.BASIC
    since = "0.1"
    clause = ""
    suppressible = False

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield each entry that has no effect."""
        known = rules()
        for entry in read_suppressions(context.document):
            rule = known.get(entry.code)
            if rule is None:
                message = f"there is no rule {entry.code} to overlook"
                hint = suggestion(entry.code, known, "remove the entry")
            elif not rule.suppressible:
                message = f"{entry.code} ({rule.name}) cannot be overlooked"
                hint = "correct what it reports and remove the entry"
            elif not entry.reason:
                message = f"{entry.code} is to be overlooked without a reason"
                hint = "say why its findings do not matter here"
            else:
                continue
            place = ("x-lint", "ignore", entry.code)
            yield self.in_document(context.document, place, message, hint=hint)
