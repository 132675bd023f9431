from __future__ import annotations

import re
from collections.abc import Iterable

from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.rule import Rule

_START = b"version https://git-lfs.github.com/spec/v1"
_SIZE = re.compile(rb"^size (\d+)$", re.MULTILINE)


class LfsPointer(Rule):
    """A file holds a Git LFS pointer in place of its content.

    ## What it does

    Looks at the first bytes of every file that would be shared.

    ## Why is this bad?

    The pointer is three lines of text; the content is on a server that may refuse or forget.
    A script that reads the file fails with a message about its format.

    ## How to fix

    Run `git lfs pull` in the source and copy the file again.

    ## Example

    Bad:

    ```text title="code/wine.csv"
    version https://git-lfs.github.com/spec/v1
    oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393
    size 11157
    ```

    Good:

    ```text title="code/wine.csv"
    class,alcohol,malic_acid
    1,14.23,1.71
    ```
    """

    code = "RRA103"
    name = "lfs-pointer"
    severity = Severity.ERROR
    profile = Profile.BASIC
    since = "0.1"
    clause = "manifest/code-content"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield each pointer, with the size of the content that is missing."""
        for path in context.files:
            head = context.head(path)
            if head.startswith(_START):
                size = _SIZE.search(head.replace(b"\r\n", b"\n"))
                of = f" of {int(size[1]):,} bytes" if size else ""
                message = f"is a Git LFS pointer in place of its content{of}"
                hint = "run git lfs pull in the source and copy the file again"
                yield self.at(path, message, line=1, hint=hint)
