"""``rra init``: draft an artifact from a repository, or from a template."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rra._base.files import plain
from rra.api._result import Progress, VerbResult, silent
from rra.artifact import Artifact, layout, load_artifact
from rra.errors import RraError, UsageError

if TYPE_CHECKING:
    from rra.author import SourceRequest


@dataclasses.dataclass(frozen=True, kw_only=True)
class Blank:
    """A place that only the author can fill.

    Attributes:
        stops: Whether a launcher cannot run, or nothing be verified, before it is filled.
    """

    path: str
    line: int
    text: str
    stops: bool = False


@dataclasses.dataclass(frozen=True, kw_only=True)
class InitResult(VerbResult):
    """What was drafted.

    Attributes:
        root: Directory of the artifact.
        name: Its id.
        written: Files that were written, relative to it.
        moved: Entries that were moved, as (from, to).
        replaced: Files that were there and differed, with the difference.
        blanks: What only the author can fill.
        notes: What the author should know.
        launchers: Ids of the launchers.
        outcomes: Ids and reported values of the outcomes.
        locked: Whether the environment is locked already, since it needs no packages.
        dry_run: Whether nothing was written.
    """

    root: Path
    name: str
    written: tuple[str, ...]
    moved: tuple[tuple[str, str], ...]
    replaced: tuple[tuple[str, str], ...]
    blanks: tuple[Blank, ...]
    notes: tuple[str, ...]
    launchers: tuple[str, ...] = ()
    outcomes: tuple[tuple[str, str], ...] = ()
    locked: bool = False
    dry_run: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {
            "artifact": str(self.root),
            "name": self.name,
            "dry_run": self.dry_run,
            "written": list(self.written),
            "moved": [{"from": a, "to": b} for a, b in self.moved],
            "replaced": [{"path": path, "diff": diff} for path, diff in self.replaced],
            "blanks": [dataclasses.asdict(blank) for blank in self.blanks],
            "launchers": list(self.launchers),
            "outcomes": [{"outcome": name, "reported": text} for name, text in self.outcomes],
            "locked": self.locked,
            "notes": list(self.notes),
        }


def init(
    path: Path | SourceRequest,
    *,
    nested: bool = False,
    template: str | None = None,
    name: str | None = None,
    answers: Mapping[str, str] | None = None,
    overwrite: bool = False,
    dry_run: bool = False,
    progress: Progress = silent,
) -> InitResult:
    """Draft an artifact; nothing of the repository is run, nothing of it is changed.

    A second call changes nothing and says so. An environment without packages is locked at
    once, since that takes neither network nor decisions.

    Args:
        path: The repository, or the directory of a new artifact when a template is given; or
            where a repository or archive is to be had, which is brought here first.
        nested: Move the repository into ``code/`` instead of working in place.
        template: Name of a shipped template, or path of a cookiecutter template.
        name: Id of the artifact; by default made from the directory's name.
        answers: Values of the template's variables.
        overwrite: Consent to replace files that are there and differ.
        dry_run: Only say what would be done.
        progress: Called with one line for each step.

    Raises:
        UsageError: Files are in the way, or a name is not an id.
        StorageError: The disk is full or refuses; nothing is half-written.
        UnavailableError: git cannot get the repository.
        ArchiveError: An archive is damaged or too large.
        UnsafePathError: An archive leads outside.
    """
    from rra.author import SourceRequest

    if isinstance(path, SourceRequest):
        request = path
        if template is not None:
            message = "a template starts from nothing, and a source is given"
            raise UsageError(message, hint="leave --template away, or give a new directory")
        return _from_elsewhere(
            request, nested=nested, name=name, dry_run=dry_run, progress=progress
        )
    from rra.author import apply_init, plan_init

    plan = plan_init(
        path,
        nested=nested,
        template=template,
        name=name,
        answers=answers,
        overwrite=overwrite,
        progress=progress,
    )
    result = InitResult(
        root=plain(plan.root),
        name=plan.name,
        written=tuple(str(file) for file in plan.files),
        moved=tuple((str(a), str(b)) for a, b in plan.moves),
        replaced=tuple((str(r.path), r.diff) for r in plan.replacements),
        blanks=tuple(Blank(path=str(p), line=line, text=text) for p, line, text in plan.blanks),
        notes=plan.notes,
        dry_run=dry_run,
    )
    if dry_run:
        return result
    progress("writing the draft")
    apply_init(plan)
    return _described(result, progress)


def _from_elsewhere(
    request: SourceRequest, *, nested: bool, name: str | None, dry_run: bool, progress: Progress
) -> InitResult:
    """Bring a repository here and draft from it, in ``code/`` where it has its own of our files.

    The copy is ours, so nothing of an author's is moved. A dry run works in a temporary folder.
    """
    from rra._base.files import STAGING_PREFIX, remove_tree
    from rra.author import collisions, obtain, target_of

    target = target_of(request)
    with tempfile.TemporaryDirectory(prefix="rra-init-") as folder:
        place = Path(folder) / target.resolve().name if dry_run else target
        progress(f"getting {target.name}")
        found = obtain(request, place)
        for staged in place.glob(f"{STAGING_PREFIX}*"):  # the author's, not ours: never resumed
            remove_tree(staged)
        notes = list(found.notes)
        taken = collisions(place)
        if taken and not nested:
            notes.append(f"put into code/, since it has its own {', '.join(taken)}")
        result = init(
            place, nested=nested or bool(taken), name=name, dry_run=dry_run, progress=progress
        )
    return dataclasses.replace(result, root=plain(target), notes=(*notes, *result.notes))


def _described(result: InitResult, progress: Progress) -> InitResult:
    """Add what the draft declares, and lock an environment that needs nothing."""
    artifact = load_artifact(result.root)
    outcomes = tuple(
        (
            name,
            outcome.reported if isinstance(outcome.reported, str) else ", ".join(outcome.reported),
        )
        for name, outcome in artifact.manifest.reported_values().items()
    )
    locked, written, notes = _lock_nothing(result.root, progress)
    return dataclasses.replace(
        result,
        written=(*result.written, *(name for name in written if name not in result.written)),
        launchers=tuple(artifact.manifest.launchers),
        outcomes=outcomes,
        locked=locked,
        blanks=tuple(
            dataclasses.replace(blank, stops=_stops(artifact, blank)) for blank in result.blanks
        ),
        notes=(*result.notes, *notes),
        problems=artifact.warnings,
    )


def _stops(artifact: Artifact, blank: Blank) -> bool:
    """Tell whether a blank of the manifest is a launcher's command or a reported value."""
    if blank.path != layout.MANIFEST:
        return False
    line = artifact.document.text.split("\n")[blank.line - 1]
    starts = {artifact.document.position((key,))[0]: key for key in artifact.document.data}
    section = max((start for start in starts if start <= blank.line), default=0)
    return line.lstrip(" -").startswith("reported:") or starts.get(section) == "launchers"


def _lock_nothing(root: Path, progress: Progress) -> tuple[bool, tuple[str, ...], tuple[str, ...]]:
    """Lock the environments when none of them needs a package.

    Returns:
        Whether they are locked, the files that were written for it, and why it failed.
    """
    from rra._base.files import walk_files
    from rra.api._lock import lock
    from rra.api._needed import needed_packages

    artifact = load_artifact(root)
    unlocked = [
        name
        for name, environment in artifact.manifest.environments.items()
        if not (environment.lock and artifact.path(environment.lock).is_file())
    ]
    kinds = {environment.kind for environment in artifact.manifest.environments.values()}
    if not unlocked and kinds == {"pylock"}:
        return True, (), ()
    if any(needed_packages(artifact, name) for name in unlocked):
        return False, (), ()
    before = set(walk_files(root))
    try:
        lock(root, progress=progress)
    except RraError as error:
        return False, (), (f"the environment could not be locked yet: {error.message}",)
    written = sorted(set(walk_files(root)) - before)
    return True, tuple(map(str, written)), ()
