from __future__ import annotations

from collections.abc import Iterable

from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.rule import Rule


class ManifestSchema(Rule):
    """A document breaks the format.

    ## What it does

    Checks `rra.yaml`, `rra.lock`, `guide/settings.yaml` and `guide/repairs.yaml` against their
    schemas, and that each id that the manifest uses is defined in it. A document is checked by
    stages: its text as YAML or JSON, then the schema, then what lies beyond the schema, such as
    ids. A stage starts only when the one before it found no fault: the first fault of the text
    is reported alone, the faults of the schema are reported at once, and then those beyond
    it. Each has its line and column. Of the manifest, and of a document that is checked by
    itself, what was not looked at yet is said after the findings.

    ## Why is this bad?

    No tool can run or judge an artifact whose manifest it cannot read. The other rules wait
    until it can be read.

    ## How to fix

    Correct the places named. The clause in brackets names the requirement of the
    specification that is broken; a number where text is wanted has to be quoted, since YAML
    drops the zero of `98.90`.

    ## Example

    Bad:

    ```yaml title="rra.yaml"
    experiments:
      table1:
        outcomes:
          accuracy:
            type: number
            reported: 98.90
            selector: {launcher: lda, file: metrics.json, json: /accuracy}
    ```

    Good:

    ```yaml title="rra.yaml"
    experiments:
      table1:
        outcomes:
          accuracy:
            type: number
            reported: "98.90"
            selector: {launcher: lda, file: metrics.json, json: /accuracy}
    ```
    """

    code = "RRA001"
    name = "document-breaks-the-format"
    severity = Severity.ERROR
    profile = Profile.BASIC
    since = "0.1"
    clause = "manifest/schema"
    needs_artifact = False
    suppressible = False

    def check(self, context: Context) -> Iterable[Finding]:
        """Pass on the faults that the loader found."""
        for problem in context.problems:
            if problem.severity == "error":
                yield Finding(
                    self.code,
                    self.severity,
                    problem.message,
                    problem.path,
                    problem.line,
                    problem.column,
                    problem.pointer,
                    problem.hint,
                    problem.clause or self.clause,
                )
