from __future__ import annotations

from collections.abc import Iterable

from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.rule import Rule


class ReferencesInside(Rule):
    """The artifact holds the references of its evaluators.

    ## What it does

    Looks for files called `references` (`.yaml`, `.yml` or `.json`) that have the shape of
    references: scores by outcome.

    ## Why is this bad?

    References are what an evaluator compares with. A launcher, or an agent that works on the
    artifact, that can read them can give them back. No bundle is made of such an artifact.

    ## How to fix

    Move the file out of the artifact and give it to whoever verifies:
    `rra verify --references FILE`.

    ## Example

    Bad:

    ```yaml title="guide/references.yaml"
    table1/accuracy:
      scores: [{value: "98.9"}, {value: "98.3"}, {value: "98.9"}]
    ```

    Good:

    ```yaml title="guide/references.yaml"
    - {title: "Comparison of classifiers in high dimensional settings", year: 1992}
    ```
    """

    code = "RRA702"
    name = "references-inside"
    severity = Severity.ERROR
    profile = Profile.BASIC
    since = "0.1"
    clause = "references/outside-the-artifact"
    suppressible = False

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield each file that holds references."""
        from rra.bundle.belonging import references_among

        for problem in references_among(context.root, context.files):
            yield self.at(problem.path, problem.message, hint=problem.hint)
