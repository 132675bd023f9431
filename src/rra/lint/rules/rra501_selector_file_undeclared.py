from __future__ import annotations

from collections.abc import Iterable

from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.near import suggestion
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
    clause = "selector/file"

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
            if _is_declared(selector.file, declared) or (here, selector.file) in seen:
                continue
            seen.add((here, selector.file))
            message = f"launcher {selector.launcher} does not declare {selector.file}"
            hint = suggestion(
                selector.file, declared, f"it declares {', '.join(declared[:-2]) or 'no file'}"
            )
            yield self.in_document(context.document, here, message, hint=hint)


def _is_declared(file: str, declared: list[str]) -> bool:
    """Tell whether a file is declared, itself or by a folder that it lies in."""
    return any(file == name or file.startswith(name.rstrip("/") + "/") for name in declared)
