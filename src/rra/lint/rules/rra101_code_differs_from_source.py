from __future__ import annotations

from collections.abc import Iterable

from rra.artifact.layout import REPAIRS
from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.rule import Rule


class CodeDiffersFromSource(Rule):
    """The code is not the source with its repairs applied.

    ## What it does

    Takes back the patches of `guide/repairs.yaml` in reverse order on a copy of the code and
    compares what is left with `source.swhid`. The source itself is not needed for that. (A
    patch that is not there is reported by RRA403.)

    ## Why is this bad?

    A change that is in no patch is a change that nobody declared: the artifact would reproduce
    something else than what was published.

    ## How to fix

    When a patch cannot be taken back, the code was edited after the patch was written: write
    that patch again (`git diff --binary --full-index`). When everything can be taken back and
    the tree still differs, some change is in no patch: compare with the source and record it
    as a repair with its reason. `git rev-parse HEAD^{tree}` gives the number of the source.

    ## Example

    Bad:

    ```yaml title="rra.yaml"
    source: {swhid: "swh:1:dir:4b825dc642cb6eb9a060e54bf8d69288fbee4904"}
    ```

    Good:

    ```yaml title="rra.yaml"
    source: {swhid: "swh:1:dir:9269075e638b383f836e5e65346a3dc2cd6e56c5"}
    ```
    """

    code = "RRA101"
    name = "code-differs-from-source"
    severity = Severity.ERROR
    profile = Profile.BASIC
    since = "0.1"
    clause = "repairs/equality"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield one finding when the equality does not hold or a patch does not come off."""
        result = context.equality
        if result.computed is None:
            taken = len(result.steps)
            failing, repair = context.repairs[-1 - taken]
            if context.kind(repair.patch) != "file":
                return
            document = context.repairs_document
            hint = "the code was edited after this patch was written; write the patch again"
            if document is None:
                yield self.at(REPAIRS, result.message, hint=hint)
            else:
                yield self.in_document(document, (failing, "patch"), result.message, hint=hint)
        elif result.ok is False:
            hint = (
                "a change of the code, a new file too, is in no patch: record it as a repair,"
                " or commit it to the source, whose tree then is the second of these"
            )
            place = ("source", "swhid")
            yield self.in_document(context.document, place, result.message, hint=hint)
