from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePosixPath

from rra.launch.collect import is_output
from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.near import nearest
from rra.lint.rule import Rule

_ALWAYS = ("stdout.txt", "stderr.txt")


class SelectorFileUndeclared(Rule):
    """An outcome is read from a file that no launcher promises.

    ## What it does

    Compares the file of each selector with the `outputs` and `collect` of the launcher that
    it names. What a launcher prints is always in `stdout.txt`. (A launcher that is not defined
    at all is reported by RRA001.)

    ## Why is this bad?

    A run that does not write the file still counts as successful, and the outcome has no
    value.

    ## How to fix

    Add the file to the launcher's `outputs`, or correct the name in the selector; it is
    relative to the launcher's output folder.

    ## Example

    Bad:

    ```yaml title="rra.yaml"
    experiments:
      table1:
        outcomes:
          accuracy:
            type: number
            reported: "98.9"
            selector: {launcher: lda, file: metric.json, json: /accuracy}
    ```

    Good:

    ```yaml title="rra.yaml"
    experiments:
      table1:
        outcomes:
          accuracy:
            type: number
            reported: "98.9"
            selector: {launcher: lda, file: metrics.json, json: /accuracy}
    ```
    """

    code = "RRA501"
    name = "selector-file-undeclared"
    severity = Severity.ERROR
    profile = Profile.BASIC
    since = "0.1"
    clause = "selector/file-is-an-output"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield each selector whose file its launcher does not declare."""
        manifest = context.artifact.manifest
        seen: set[tuple[object, ...]] = set()
        for name, outcome in manifest.outcomes().items():
            selector = outcome.selector
            launcher = manifest.launchers[selector.launcher]
            collected = list(launcher.collect.values())
            declared = [*(spec.name for spec in launcher.output_specs), *collected, *_ALWAYS]
            here = context.artifact.place_of(name, "selector", "file")
            known = str(PurePosixPath(selector.file)) in _ALWAYS or is_output(
                launcher, selector.file
            )
            if known or (here, selector.file) in seen:
                continue
            seen.add((here, selector.file))
            message = f"launcher {selector.launcher} does not declare {selector.file}"
            near = nearest(selector.file, declared)
            hint = f"did you mean {near}? If not, " if near else ""
            hint += f"add {selector.file} to the outputs of launcher {selector.launcher}"
            if not near and declared[:-2]:
                hint += f", or name one of {', '.join(declared[:-2])}"
            yield self.in_document(context.document, here, message, hint=hint)
