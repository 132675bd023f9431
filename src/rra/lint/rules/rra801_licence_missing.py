from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.rule import Rule

_UNDECIDED = {"", "unknown", "none", "tbd", "todo", "?", "n/a", "unlicensed", "noassertion"}
_JOINS = {"AND", "OR", "WITH"}
_NAME = r"[A-Za-z0-9][A-Za-z0-9.:-]*\+?"
_SHAPE = re.compile(rf"{_NAME}(?: (?:AND|OR|WITH) {_NAME})*")
_FILE = re.compile(r"(?:licen[cs]e|copying|copyright|unlicense)(?:[.-].*)?", re.IGNORECASE)


class LicenceMissing(Rule):
    """Nobody is told what they may do with the artifact.

    ## What it does

    Asks that `license` in `rra.yaml` is an SPDX expression (or a `LicenseRef-…` of your own),
    that the text of the licence is in the artifact, and that data has a `licence` too.

    ## Why is this bad?

    Without a licence, nobody may copy, run or archive the artifact, however public it is.

    ## How to fix

    Name the licence of the code as its authors gave it, and copy its text to `LICENSE`. Where
    upstream gave none, ask; until then write `LicenseRef-none` and say so in the guide.

    ## Example

    Bad:

    ```yaml title="rra.yaml"
    license: unknown
    ```

    Good:

    ```yaml title="rra.yaml"
    license: MIT
    ```
    """

    code = "RRA801"
    name = "licence-missing"
    severity = Severity.WARNING
    profile = Profile.BASIC
    since = "0.1"
    clause = "manifest/license"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield what is missing of the licences."""
        manifest = context.artifact.manifest
        yield from self._expression(context, manifest.license)
        if not any(_is_text(path, manifest.code.root) for path in context.files):
            message = "the text of the licence is not in the artifact"
            hint = "copy it there, as upstream gives it"
            if manifest.code.root == ".":
                hint += "; it is part of the code: commit it, and RRA101 says the new source.swhid"
            yield self.at("LICENSE", message, hint=hint)
        for key, item in manifest.data.items():
            if not item.licence:
                message = f"data {key} has no licence"
                hint = "say under which licence it may be used"
                yield self.in_document(context.document, ("data", key), message, hint=hint)

    def _expression(self, context: Context, expression: str) -> Iterator[Finding]:
        place = ("license",)
        if expression.strip().lower() in _UNDECIDED:
            message = f"license is {expression!r}, which is no licence"
            hint = "name the licence of the code, such as MIT or Apache-2.0"
            yield self.in_document(context.document, place, message, hint=hint)
            return
        try:
            canonicalize_license_expression(expression)
        except InvalidLicenseExpression:
            messages = [
                f"{word} is not on the SPDX list{of}" for word, of in _unknown(expression).items()
            ]
            hint = "use an SPDX identifier, or a name of your own that starts with LicenseRef-"
            for message in messages or [f"license {expression!r} is not an SPDX expression"]:
                yield self.in_document(context.document, place, message, hint=hint)


def _unknown(expression: str) -> dict[str, str]:
    """Return the identifiers that are not on the list, each with what it is no name of."""
    words = re.sub(r"[()]", " ", expression).split()
    if _SHAPE.fullmatch(" ".join(words)) is None:
        return {}
    found = {}
    for before, word in zip(["", *words], words, strict=False):
        of_one, of = (f"MIT WITH {word}", " of exceptions") if before == "WITH" else (word, "")
        if word not in _JOINS and not word.lower().startswith("licenseref-"):
            try:
                canonicalize_license_expression(of_one)
            except InvalidLicenseExpression:
                found[word] = of
    return found


def _is_text(path: PurePosixPath, code_root: str) -> bool:
    """Tell whether a file is the text of a licence, at the root or at the root of the code."""
    return str(path.parent) in {".", code_root} and _FILE.fullmatch(path.name) is not None
