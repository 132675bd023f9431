from __future__ import annotations

from collections.abc import Iterable

from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.rule import Rule


class SourceUnstated(Rule):
    """The manifest does not say which tree the code was made from.

    ## What it does

    Asks for `source.swhid`, the identifier of the upstream tree.

    ## Why is this bad?

    Without it nobody can check that the code is what was published plus the repairs that the
    guide lists (see RRA101).

    ## How to fix

    In a git checkout of the source, `git rev-parse HEAD^{tree}` gives the 40 digits; write
    them after `swh:1:dir:`. `rra init` does it by itself.

    ## Example

    Bad:

    ```yaml title="rra.yaml"
    source: {repository: "wine-discriminant, lab server"}
    ```

    Good:

    ```yaml title="rra.yaml"
    source: {swhid: "swh:1:dir:9269075e638b383f836e5e65346a3dc2cd6e56c5"}
    ```
    """

    code = "RRA104"
    name = "source-unstated"
    severity = Severity.WARNING
    profile = Profile.REPRODUCIBLE
    since = "0.1"
    clause = "manifest/source"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield one finding when the identifier is missing."""
        source = context.artifact.manifest.source
        if source is None or source.swhid is None:
            message = "the manifest names no source.swhid"
            hint = "add the tree of the upstream commit: git rev-parse HEAD^{tree}"
            yield self.in_document(context.document, ("source",), message, hint=hint)
