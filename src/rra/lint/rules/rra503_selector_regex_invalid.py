from __future__ import annotations

from collections.abc import Iterable

from rra.errors import SelectError
from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.rule import Rule
from rra.values.readers.regex_lines import value_group


class SelectorRegexInvalid(Rule):
    """A selector's regular expression cannot be used.

    ## What it does

    Compiles the `regex` of each selector, and looks for the named group `value` in it. Where a
    pattern has one named group only, that group may have any name, as in a run.

    ## Why is this bad?

    The fault would come to light only after the launcher has run, perhaps for hours, and the
    outcome would have no value.

    ## How to fix

    Write a regular expression of Python's `re` module, with the number in a named group:
    `(?P<value>[0-9.]+)`. In YAML, single quotes leave a backslash as it is.

    ## Example

    Bad:

    ```yaml title="rra.yaml"
    experiments:
      table1:
        outcomes:
          accuracy:
            type: number
            reported: "98.9"
            selector: {launcher: lda, file: stdout.txt, regex: 'accuracy: ([0-9.]+)'}
    ```

    Good:

    ```yaml title="rra.yaml"
    experiments:
      table1:
        outcomes:
          accuracy:
            type: number
            reported: "98.9"
            selector: {launcher: lda, file: stdout.txt, regex: 'accuracy: (?P<value>[0-9.]+)'}
    ```
    """

    code = "RRA503"
    name = "selector-regex-invalid"
    severity = Severity.ERROR
    profile = Profile.BASIC
    since = "0.1"
    clause = "selector/regex"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield each pattern that a run would refuse."""
        seen: set[tuple[object, ...]] = set()
        for name, outcome in context.artifact.manifest.outcomes().items():
            pattern = outcome.selector.regex
            here = context.artifact.place_of(name, "selector", "regex")
            if pattern is None or (here, pattern) in seen:
                continue
            seen.add((here, pattern))
            try:
                value_group(pattern)
            except SelectError as error:
                yield self.in_document(context.document, here, error.message, hint=error.hint)
