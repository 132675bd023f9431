from __future__ import annotations

from collections.abc import Iterable

from rra.artifact.layout import LOCK
from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.rule import Rule


class LockOutOfDate(Rule):
    """The files are not those that `rra.lock` names.

    ## What it does

    Compares the digests in `rra.lock` with the files as they are now: the tree of the code, the
    locks of the environments, the entries of the launchers, the bundled data, and the core,
    which also covers what `rra.yaml` says of launchers and outcomes.

    ## Why is this bad?

    `rra.lock` is how others tell that they have the artifact that was run and reproduced. When
    it speaks of other files, a result of theirs names something that nobody can get, and a
    file that was changed by accident goes unnoticed.

    ## How to fix

    If the change is meant, run `rra lock --keep`: it notes the files as they are and leaves the
    versions of the environments alone. Then run the launchers again. If it is not meant, put
    the file back.

    ## Example

    After an edit of a file of the code:

    ```text
    rra.lock: error RRA005 code has changed: it is swh:1:dir:…, not swh:1:dir:…
    ```
    """

    code = "RRA005"
    name = "lock-out-of-date"
    severity = Severity.ERROR
    profile = Profile.BASIC
    since = "0.1"
    clause = "lock/current"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield what differs, one finding each."""
        for change in context.lock_changes:
            yield self.at(LOCK, change, hint="run: rra lock --keep")
