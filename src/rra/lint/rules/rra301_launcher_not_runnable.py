from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from rra.lint.context import Context, TextFile
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.rule import Rule


class LauncherNotRunnable(Rule):
    """A launcher cannot be started as it is.

    ## What it does

    Looks at the entry of each launcher: a shell script needs `#!` in its first line, line ends
    as Unix writes them and no byte order mark; a notebook has to be one. A shell script without
    the executable bit is noted only: launchers are started with `bash`, and `rra lock` gives it
    back before a bundle is made.

    ## Why is this bad?

    A launcher is what a stranger starts first. With Windows line ends the system answers
    `no such file or directory` about a file that is there.

    ## How to fix

    Save the file with LF line ends and without a byte order mark (`sed -i 's/\\r$//' FILE`),
    and let it start with `#!/usr/bin/env bash`.

    ## Example

    Bad:

    ```bash title="launchers/lda.sh"
    python main.py
    ```

    Good:

    ```bash title="launchers/lda.sh"
    #!/usr/bin/env bash
    set -euo pipefail
    python main.py
    ```
    """

    code = "RRA301"
    name = "launcher-not-runnable"
    severity = Severity.ERROR
    profile = Profile.BASIC
    since = "0.1"
    clause = "launcher/entry-can-be-started"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield what stands in the way of each entry, which launchers may share."""
        launchers = context.artifact.manifest.launchers.values()
        for entry in dict.fromkeys(PurePosixPath(launcher.entry) for launcher in launchers):
            if context.kind(entry) == "file":
                yield from self._entry(context, entry)

    def _entry(self, context: Context, entry: PurePosixPath) -> Iterator[Finding]:
        file = context.text(entry)
        if file is None:
            yield self.at(entry, "is not a text file", hint="write a launcher in its place")
        elif not file.text.strip():
            yield self.at(entry, "is empty", hint="write what it is to run")
        elif entry.suffix == ".ipynb":
            yield from self._notebook(file)
        else:
            yield from self._script(context, file)

    def _script(self, context: Context, file: TextFile) -> Iterator[Finding]:
        first = file.text.split("\n", 1)[0]
        if file.has_bom:
            hint = "save it as UTF-8 without BOM"
            yield self.at(file.path, "starts with a byte order mark", line=1, hint=hint)
        if file.path.suffix != ".sh":
            return
        if "\r\n" in file.text:
            message = "has Windows line ends (CRLF)"
            if first.startswith("#!") and first.endswith("\r"):
                message += ", so its first line names a program that does not exist"
            hint = f"convert it: sed -i 's/\\r$//' {file.path}"
            yield self.in_text(file, file.text.index("\r\n"), message, hint=hint)
        if not first.startswith("#!"):
            hint = "let it start with #!/usr/bin/env bash"
            yield self.at(file.path, "has no #! in its first line", line=1, hint=hint)
        elif not context.is_executable(file.path):
            hint = f"rra lock makes it so, or: chmod +x {file.path}"
            message = "is not executable"
            yield self.at(file.path, message, hint=hint, severity=Severity.NOTE)

    def _notebook(self, file: TextFile) -> Iterator[Finding]:
        try:
            content = json.loads(file.text)
        except json.JSONDecodeError as error:
            message = f"is not a notebook: {error.msg}"
            yield self.at(file.path, message, line=error.lineno, hint="save it again")
            return
        if not (isinstance(content, dict) and "nbformat" in content):
            yield self.at(file.path, "is JSON, but not a notebook", hint="save it again")
