from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from rra.errors import FormatError
from rra.lint.context import Context
from rra.lint.finding import Finding, Fix, Profile, Severity
from rra.lint.rule import Rule


class GuideOutOfDate(Rule):
    """The tables of the guide are not those of the documents beside it.

    ## What it does

    Renders the tables of `guide/GUIDE.md` again from `rra.yaml`, `settings.yaml` and
    `repairs.yaml`, and compares.

    ## Why is this bad?

    A reader follows the guide, a machine follows the documents. When they differ, the two run
    different experiments.

    ## How to fix

    Run `rra guide`. It renders the tables between their markers and leaves the prose alone.

    ## Example

    After a change of `rra.yaml`, or an edit between the markers:

    ```text
    guide/GUIDE.md:12: warning RRA402 the tables are not up to date from here on
    ```
    """

    code = "RRA402"
    name = "guide-out-of-date"
    severity = Severity.WARNING
    profile = Profile.BASIC
    fix = Fix.SAFE
    since = "0.1"
    clause = "guide/tables"

    def unavailable(self, context: Context) -> str:
        """Say so when the caller cannot render the guide."""
        reason = super().unavailable(context)
        return reason or ("" if context.renders_guide else "nothing renders the guide here")

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield the first line that differs, or what keeps the guide from being rendered."""
        file = context.text(context.guide_path)
        if file is None:
            return
        try:
            expected = context.expected_guide
        except FormatError as error:
            for problem in error.problems:
                if problem.clause.startswith("guide/"):
                    finding = self.at(
                        file.path,
                        problem.message,
                        line=problem.line,
                        hint=error.hint,
                        severity=Severity.ERROR,
                    )
                    yield dataclasses.replace(finding, clause=problem.clause)
            return
        expected = (expected or file.text).removeprefix("\ufeff")
        if file.text == expected:
            return
        here, there = file.text.split("\n"), expected.split("\n")
        same = next((i for i, (a, b) in enumerate(zip(here, there, strict=False)) if a != b), None)
        line = min(len(here), len(there)) if same is None else same + 1
        message = "the tables are not up to date from here on"
        yield self.at(file.path, message, line=line, hint="run: rra guide")
