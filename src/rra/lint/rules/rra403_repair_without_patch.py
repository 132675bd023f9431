from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from rra.artifact.layout import PATCHES_DIR, REPAIRS
from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.near import suggestion
from rra.lint.rule import Rule


class RepairWithoutPatch(Rule):
    """A repair has no patch, or a patch has no repair.

    ## What it does

    Compares the entries of `guide/repairs.yaml` with the files in `guide/repairs/`.

    ## Why is this bad?

    An entry without its patch cannot be checked; a patch without an entry is a change that
    nobody gives a reason for, and it is not applied.

    ## How to fix

    Put the patch where the entry says, add the entry that explains the patch, or remove what
    is left over.

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
    clause = "repairs/patch"

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
        if document is None and context.kind(REPAIRS) == "file":
            return
        named = {PurePosixPath(repair.patch) for _, repair in context.repairs}
        for path in present:
            if path not in named:
                hint = f"explain it in {REPAIRS}, or remove it"
                yield self.at(path, "is a patch that no repair names", hint=hint)
