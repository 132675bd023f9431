from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from pathlib import PurePosixPath

from rra._base.yaml import Key, YamlDocument
from rra.artifact.layout import SETTINGS
from rra.artifact.semantics.settings import CODE_PLACE
from rra.errors import CorruptError, FormatError
from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.near import suggestion
from rra.lint.rule import Rule
from rra.model import Setting


class GuideDataLinks(Rule):
    """A setting or a repair names something that the artifact does not have.

    ## What it does

    Looks up what `guide/settings.yaml` and `guide/repairs.yaml` name: launchers in `rra.yaml`,
    files and lines in the code, and runs in `evidence/`. A run that is not there is passed
    over, since evidence may have been left behind; one that is there has to be what it is
    given as.

    ## Why is this bad?

    A setting of a launcher that does not exist is not the setting of anything; a line of code
    that is not there cannot be looked up; a repair whose run with the change failed was not
    seen to work.

    ## How to fix

    Correct the name. For a run, give the digest of the record of a run that succeeded with the
    change.

    ## Example

    Bad:

    ```yaml title="guide/settings.yaml"
    folds:
      value: 178
      launchers: [lad]
      source: paper
      where: leave-one-out, §2
      rationale: one fold for each wine
    ```

    Good:

    ```yaml title="guide/settings.yaml"
    folds:
      value: 178
      launchers: [lda]
      source: paper
      where: leave-one-out, §2
      rationale: one fold for each wine
    ```
    """

    code = "RRA404"
    name = "guide-data-links"
    severity = Severity.ERROR
    profile = Profile.BASIC
    since = "0.1"
    clause = "settings/launchers-defined"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield what settings name in vain, then runs of repairs that are not what they say."""
        document = context.yaml(SETTINGS)
        if isinstance(document, YamlDocument):
            try:
                settings = context.artifact.settings
            except FormatError:
                settings = {}
            for name, setting in settings.items():
                yield from self._launchers(context, document, name, setting)
                yield from self._line(context, document, name, setting)
        yield from self._runs(context)

    def _launchers(
        self, context: Context, document: YamlDocument, name: str, setting: Setting
    ) -> Iterator[Finding]:
        known = context.artifact.manifest.launchers
        for index, launcher in enumerate(setting.launchers or ()):
            if launcher not in known:
                message = f"no launcher is called {launcher!r}"
                hint = suggestion(launcher, known, f"launchers: {', '.join(known)}")
                place = (name, "launchers", index)
                yield self._broken(document, place, message, hint, self.clause)

    def _line(
        self, context: Context, document: YamlDocument, name: str, setting: Setting
    ) -> Iterator[Finding]:
        place = CODE_PLACE.match(setting.where)
        if setting.source != "code" or place is None:
            return
        code = context.artifact.code_root.relative_to(context.artifact.root)
        path = PurePosixPath(code.as_posix()) / place["file"]
        files = context.elements["code"]
        clause = "settings/code-place-exists"
        if path not in files:
            message = f"the code has no file {place['file']}"
            names = [str(one.relative_to(code.as_posix())) for one in files]
            hint = suggestion(place["file"], names, "give its place in the code")
            yield self._broken(document, (name, "where"), message, hint, clause)
            return
        file = context.text(path)
        if file is not None and int(place["line"]) > len(file.text.splitlines()):
            message = f"{place['file']} has {len(file.text.splitlines())} lines"
            hint = "give the line as it is after the repairs"
            yield self._broken(document, (name, "where"), message, hint, clause)

    def _runs(self, context: Context) -> Iterator[Finding]:
        document = context.repairs_document
        if document is None or not any(repair.after for _, repair in context.repairs):
            return
        try:
            failed = {stored.digest for stored, _ in context.evidence if not stored.record.ok}
        except CorruptError:
            return
        for name, repair in context.repairs:
            if repair.after in failed:
                message = f"the run with repair {name} did not succeed"
                hint = "give a run that ended well with every required output"
                clause = "repairs/after-succeeded"
                yield self._broken(document, (name, "after"), message, hint, clause)

    def _broken(
        self, document: YamlDocument, place: Sequence[Key], message: str, hint: str, clause: str
    ) -> Finding:
        finding = self.in_document(document, place, message, hint=hint)
        return dataclasses.replace(finding, clause=clause)
