from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterable, Iterator

from rra.lint.context import Context, TextFile
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.rule import Rule

_READS = re.compile(
    r"(?<![\w./-])(?:(?:\$\{?\w+\}?|\.{1,2})/)*(?:evidence/[\w$*{\"'.-]|references\.ya?ml\b)"
)
_SCRIPTS = {".sh", ".bash", ".py", ".r", ".jl", ".ipynb"}


class ReadsEvidence(Rule):
    """A launcher or the code reads the evidence or the references.

    ## What it does

    Looks for `evidence/…` and `references.yaml` in launchers and scripts, comments left out.
    Code that has a folder `evidence` of its own is passed over.

    ## Why is this bad?

    A run that reads earlier results can only repeat them. The evidence is not there when a
    stranger runs the artifact, so the launcher fails, or shows that its number was copied.

    ## How to fix

    Let the launcher compute what it needs, or declare the launcher that does under `needs`:
    its outputs are then found below `RRA_OUTPUTS_ROOT`.

    ## Example

    Bad:

    ```bash title="launchers/lda.sh"
    #!/usr/bin/env bash
    cp evidence/lda/0123456789abcdef/outputs/metrics.json "$RRA_OUTPUT_DIR/"
    ```

    Good:

    ```bash title="launchers/lda.sh"
    #!/usr/bin/env bash
    python main.py  # what stands in evidence/lda/ was made by this line
    ```
    """

    code = "RRA302"
    name = "reads-evidence"
    severity = Severity.ERROR
    profile = Profile.BASIC
    since = "0.1"
    clause = "launcher/evidence"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield each place that names what no run may read."""
        root = context.artifact.manifest.code.root
        own = any("evidence" in path.parts[:-1] for path in context.elements["code"])
        for file in context.texts("launchers", "code"):
            if file.path.suffix.lower() not in _SCRIPTS:
                continue
            if own and root != "." and file.path.is_relative_to(root):
                continue
            if not _READS.search(file.text):
                continue
            for match in _READS.finditer(_without_comments(file)):
                message = f"reads {match.group().rstrip(chr(34))}, which no run may see"
                hint = "compute it, or name the launcher that does under needs"
                yield self.in_text(file, match.start(), message, hint=hint)


def _without_comments(file: TextFile) -> str:
    """Return the text with comments blanked out, every other character in its place."""
    if file.path.suffix == ".py":
        return _blank_python(file.text)
    return re.sub(r"(?m)(?:^|(?<=\s))#[^\n]*", lambda m: " " * len(m.group()), file.text)


def _blank_python(text: str) -> str:
    lines = text.splitlines(keepends=True)
    try:
        for row, start, end in _comments(text):
            line = lines[row - 1]
            lines[row - 1] = line[:start] + " " * (end - start) + line[end:]
    except (tokenize.TokenError, SyntaxError):
        return text
    return "".join(lines)


def _comments(text: str) -> Iterator[tuple[int, int, int]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.start[1], token.end[1]
