from __future__ import annotations

from collections.abc import Iterable, Iterator

from rra.launch.collect import STREAMS, is_output
from rra.lint.context import Context
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.near import nearest
from rra.lint.rule import Rule
from rra.model import Outcome


class SelectorFileUndeclared(Rule):
    """An outcome is read from a file that no launcher promises.

    ## What it does

    Compares the file of each selector, and that of predictions, with the `outputs` and
    `collect` of the launcher that is named. What a launcher prints is always in `stdout.txt`,
    and a notebook that is executed has the name of the entry. (A launcher that is not defined
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
            launcher = manifest.launchers[outcome.selector.launcher]
            declared = [*(spec.name for spec in launcher.output_specs), *launcher.collect.values()]
            for key, file, folder in _files(outcome):
                here = context.artifact.place_of(name, key, "file")
                if is_output(launcher, file, folder=folder) or (here, file) in seen:
                    continue
                seen.add((here, file))
                message = f"launcher {outcome.selector.launcher} does not declare {file}"
                near = nearest(file, [*declared, *STREAMS])
                hint = f"did you mean {near}? If not, " if near else ""
                hint += f"add {file} to the outputs of launcher {outcome.selector.launcher}"
                if not near and declared:
                    hint += f", or name one of {', '.join(declared)}"
                yield self.in_document(context.document, here, message, hint=hint)


def _files(outcome: Outcome) -> Iterator[tuple[str, str, bool]]:
    """Yield (key, file, whether it may be a folder) for each file that an outcome is read from."""
    selector = outcome.selector
    yield "selector", selector.file, selector.tensorboard is not None or selector.mlflow is not None
    if outcome.predictions is not None:
        yield "predictions", outcome.predictions.file, False
