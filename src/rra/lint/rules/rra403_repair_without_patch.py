from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from pathlib import PurePosixPath

from rra.artifact.layout import PATCHES_DIR, REPAIRS
from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.near import suggestion
from rra.lint.rule import Rule

_FULL_INDEX = re.compile(r"index ([0-9a-f]{40}|[0-9a-f]{64})\.\.([0-9a-f]{40}|[0-9a-f]{64})( \d+)?")


class RepairWithoutPatch(Rule):
    """A repair has no patch, a patch has no repair, or a patch is in no form to apply.

    ## What it does

    Compares the entries of `guide/repairs.yaml` with the files in `guide/repairs/`, and looks
    whether each patch has git's form with full object names.

    ## Why is this bad?

    An entry without its patch cannot be checked; a patch without an entry is a change that
    nobody gives a reason for, and it is not applied. Git's form with full object names is the
    only one that also carries modes, renames and binary files and says which file it is for.

    ## How to fix

    Put the patch where the entry says, add the entry that explains the patch, or remove what
    is left over. Write a patch again with `git diff --binary --full-index`.

    ## Example

    Bad:

    ```yaml title="guide/repairs.yaml"
    0001-relative-path:
      title: Read the data from beside the script
      symptom: FileNotFoundError
      cause: the path is absolute
      patch: guide/repairs/0001-relative-path.patch
      category: path
      effect_on_results: none
      rationale: the same file is read
    ```

    Good:

    ```yaml title="guide/repairs.yaml"
    {}
    ```
    """

    code = "RRA403"
    name = "repair-without-patch"
    severity = Severity.ERROR
    profile = Profile.BASIC
    since = "0.1"
    clause = "repairs/patch-exists"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield entries without a patch, then patches without an entry."""
        folder = PurePosixPath(PATCHES_DIR)
        present = [
            path
            for path in context.elements["guide"]
            if path.is_relative_to(folder) and path.suffix in {".patch", ".diff"}
        ]
        document = context.repairs_document
        for name, repair in context.repairs:
            if document is not None and context.kind(repair.patch) != "file":
                message = f"the patch {repair.patch} of repair {name} is not there"
                hint = suggestion(repair.patch, map(str, present), "put it there")
                yield self.in_document(document, (name, "patch"), message, hint=hint)
            elif (line := _strange_line(context, repair.patch)) is not None:
                message = "is not in the form of git diff --binary --full-index"
                finding = self.at(repair.patch, message, line=line, hint="write it again so")
                yield dataclasses.replace(finding, clause="repairs/patch-form")
        if document is None and context.kind(REPAIRS) == "file":
            return
        named = {PurePosixPath(repair.patch) for _, repair in context.repairs}
        for path in present:
            if path not in named:
                hint = f"explain it in {REPAIRS}, or remove it"
                finding = self.at(path, "is a patch that no repair names", hint=hint)
                yield dataclasses.replace(finding, clause="repairs/patch-explained")


def _strange_line(context: Context, patch: str) -> int | None:
    """Return the first line of a patch that git's full form does not have, or None."""
    file = context.text(PurePosixPath(patch))
    if file is None or not file.text.strip():
        return None
    lines = file.text.split("\n")
    if not lines[0].startswith("diff --git "):
        return 1
    header = False
    for number, line in enumerate(lines, start=1):
        header = line.startswith("diff --git ") or (header and not line.startswith("@@"))
        if header and line.startswith("index ") and not _FULL_INDEX.fullmatch(line):
            return number
    return None
