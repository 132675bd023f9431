from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath

from rra.lint.context import Context, TextFile
from rra.lint.finding import Finding, Profile, Severity
from rra.lint.requirements import requirement_lines
from rra.lint.rule import Rule

_SHOWN = 4


class EnvironmentNotLocked(Rule):
    """An environment is described but not locked.

    ## What it does

    Asks that beside a `pylock.toml` there is a `requirements.txt` in which every line has a
    version and hashes, and a `README.md` that says in plain words how to build it.

    ## Why is this bad?

    A list of names resolves to something else every month. With hashes, any installer gets
    the very files that gave the results, or says that they no longer exist; with
    `requirements.txt` that installer need not be `rra`.

    ## How to fix

    Run `rra lock`. It writes all three files.

    ## Example

    Bad:

    ```text title="environment/cpu/requirements.txt"
    numpy
    six==1.16.0
    ```

    Good:

    ```text title="environment/cpu/requirements.txt"
    six==1.16.0 \\
        --hash=sha256:8abb2f1d86890a2dfb989f9a77cfcfd3e47c2a354b01111771326f8aa26e0254
    ```
    """

    code = "RRA201"
    name = "environment-not-locked"
    severity = Severity.ERROR
    profile = Profile.BASIC
    since = "0.1"
    clause = "environment/requirements-beside-the-lock"

    def check(self, context: Context) -> Iterable[Finding]:
        """Yield what is missing of each environment."""
        for environment in context.artifact.manifest.environments.values():
            if environment.kind == "pylock" and environment.lock is not None:
                yield from self._beside(context, PurePosixPath(environment.lock).parent)

    def _beside(self, context: Context, folder: PurePosixPath) -> Iterator[Finding]:
        requirements = folder / "requirements.txt"
        file = context.text(requirements)
        if file is None:
            message = "there is no requirements.txt with hashes beside the lock"
            yield self.at(requirements, message, hint="run: rra lock")
        else:
            yield from self._unhashed(file)
        if context.text(folder / "README.md") is None:
            message = "nothing says in plain words how to build the environment"
            hint = "run: rra lock"
            yield self.at(folder / "README.md", message, hint=hint, severity=Severity.WARNING)

    def _unhashed(self, file: TextFile) -> Iterator[Finding]:
        loose = [
            line
            for line in requirement_lines(file.text)
            if not line.is_option and "--hash=" not in line.text
        ]
        if loose:
            names = ", ".join(line.name for line in loose[:_SHOWN])
            more = f" and {len(loose) - _SHOWN} more" if len(loose) > _SHOWN else ""
            message = f"required without a hash: {names}{more}"
            yield self.in_text(file, loose[0].offset, message, hint="run: rra lock")
