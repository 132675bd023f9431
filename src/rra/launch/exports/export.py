"""Writing a plan as a Makefile, a Snakefile, or a script that submits to Slurm."""

from __future__ import annotations

import dataclasses
import errno
import re
from collections.abc import Callable
from pathlib import Path

from rra._base.files import atomic_write, storage_errors
from rra.artifact import Artifact, layout
from rra.errors import UsageError
from rra.launch.exports.makefile import makefile
from rra.launch.exports.sbatch import sbatch_script
from rra.launch.exports.snakefile import snakefile
from rra.launch.exports.steps import Exported, Step, functions, steps_of
from rra.launch.tasks import Plan

MARK = "# Written by rra run --export."
"""Start of the lines by which a file of ours is known."""

_MAKE, _SNAKEMAKE, _SBATCH = "make", "snakemake", "sbatch"
_NAMES = {"makefile": _MAKE, "gnumakefile": _MAKE, "snakefile": _SNAKEMAKE}
_ENDINGS = {".mk": _MAKE, ".smk": _SNAKEMAKE, ".sbatch": _SBATCH}
_WRITERS: dict[str, Callable[[Exported], str]] = {
    _MAKE: makefile,
    _SNAKEMAKE: snakefile,
    _SBATCH: sbatch_script,
}
_START = {
    _MAKE: "make -f {file} -j 2",
    _SNAKEMAKE: "snakemake -s {file} --cores 2",
    _SBATCH: "bash {file}",
}
_SETS_IT = re.compile(rb"RRA_CODE_DIR(=|:?[-+=?])")
_HEAD = """\
{mark} Start it in the folder of the artifact, where rra.yaml is:
#   {start}
# It makes {count} of the launchers, and leaves in outputs/ what they write. There is no isolation
# and no record, and no data is fetched. A change of the code is not noticed: export again.
# Programs are taken from PATH, or from the folder that a variable names:
{programs}
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Export:
    """A file that was written from a plan.

    Attributes:
        path: The file.
        kind: ``make``, ``snakemake`` or ``sbatch``.
        tasks: Ids of the tasks in it, each after those it needs.
        start: Command that starts it in the folder of the artifact.
    """

    path: Path
    kind: str
    tasks: tuple[str, ...]
    start: str


def export_plan(artifact: Artifact, plan: Plan, path: Path) -> Export:
    """Write a plan as a file that runs it without `rra`.

    Args:
        artifact: The artifact.
        plan: Its plan.
        path: The file; its name says the kind: ``Makefile`` or ``*.mk``, ``Snakefile`` or
            ``*.smk``, ``*.sbatch``. One that an earlier call wrote is replaced.

    Raises:
        UsageError: The name says no kind, the file is someone else's or would belong to
            the artifact, or a launcher cannot be run so.
        StorageError: The disk is full or refuses.
    """
    kind = _kind(path)
    _refuse_place(artifact, path)
    _refuse_missing_folder(artifact, path)
    steps = steps_of(artifact, plan)
    start = _START[kind].format(file=_shown(artifact, path))
    text = _WRITERS[kind](Exported(_head(artifact, start, steps), functions(steps), steps))
    _refuse_other(path)
    atomic_write(path, text, mode=0o755 if kind == _SBATCH else 0o644)
    return Export(path, kind, tuple(step.task.id for step in steps), start)


def _kind(path: Path) -> str:
    kind = _NAMES.get(path.name.lower()) or _ENDINGS.get(path.suffix.lower())
    if kind is None:
        message = f"--export {path}: its name does not say what to write"
        hint = "name it Makefile or *.mk (make), Snakefile or *.smk (Snakemake), *.sbatch (Slurm)"
        raise UsageError(message, hint=hint)
    return kind


def _refuse_place(artifact: Artifact, path: Path) -> None:
    """Refuse a place in which the file would be part of the artifact, and so change it."""
    place = path.resolve()
    root = artifact.root.resolve()
    if not place.is_relative_to(root):
        return
    parts = place.relative_to(root).parts
    if parts[:1] == (layout.OUTPUTS_DIR,):
        return
    if len(parts) == 1 and artifact.manifest.code.root != ".":
        return
    message = f"--export {path}: there it would be a part of the artifact, and change what it is"
    hint = f"write it below {layout.OUTPUTS_DIR}/: --export {layout.OUTPUTS_DIR}/{path.name}"
    raise UsageError(message, hint=hint)


def _refuse_missing_folder(artifact: Artifact, path: Path) -> None:
    """Refuse to make folders: a name that is misspelt would make them anywhere."""
    folder = path.resolve().parent
    outputs = (artifact.root / layout.OUTPUTS_DIR).resolve()
    if not folder.is_dir() and not folder.is_relative_to(outputs):
        message = f"--export {path}: there is no folder {folder}"
        raise UsageError(message, hint=f"make it, or write to {layout.OUTPUTS_DIR}/{path.name}")


def without_code_dir(artifact: Artifact, plan: Plan) -> list[str]:
    """Return the launchers of a plan that need ``RRA_CODE_DIR``, which an exported file lacks.

    One that sets it, or asks whether it is set, makes its own copy.
    """
    found = []
    for name in dict.fromkeys(task.launcher for task in plan):
        entry = artifact.path(artifact.manifest.launchers[name].entry)
        text = entry.read_bytes() if entry.is_file() else b""
        if b"RRA_CODE_DIR" in text and not _SETS_IT.search(text):
            found.append(name)
    return found


def _refuse_other(path: Path) -> None:
    """Refuse to replace a file that no export wrote."""
    with storage_errors(path):
        try:
            with path.open("rb") as file:
                start = file.read(512)
        except FileNotFoundError:
            return
        except OSError as error:
            if error.errno != errno.EISDIR:
                raise
            start = b""
    if MARK.encode() not in start:
        message = f"--export {path}: something is there that no export has written"
        raise UsageError(message, hint="give another name, or move it away")


def _shown(artifact: Artifact, path: Path) -> str:
    """Return the file as it is named from the folder of the artifact, one plain word."""
    place, root = path.resolve(), artifact.root.resolve()
    name = str(place.relative_to(root) if place.is_relative_to(root) else place)
    return name if re.fullmatch(r"[A-Za-z0-9._/+-]+", name) else "FILE"


def _head(artifact: Artifact, start: str, steps: tuple[Step, ...]) -> str:
    kinds = {name: env.kind for name, env in artifact.manifest.environments.items()}
    environments = dict.fromkeys((step.programs, step.environment) for step in steps)
    programs = "\n".join(
        f"#   {variable}  (see {layout.ENVIRONMENT_DIR}/{name}/README.md"
        + ("; an image: start this file inside it)" if kinds[name] == "container" else ")")
        for variable, name in environments
    )
    count = f"{len(steps)} run{'' if len(steps) == 1 else 's'}"
    return _HEAD.format(mark=MARK, start=start, count=count, programs=programs)
