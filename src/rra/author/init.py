"""Planning an artifact: everything that `init` will write is made in memory first."""

from __future__ import annotations

import dataclasses
import difflib
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from rra._base.counts import counted
from rra._base.files import missing, walk_files
from rra._base.yaml import parse_yaml
from rra.artifact import layout
from rra.artifact.inventory import code_files, is_skipped
from rra.author import guide_text as texts
from rra.author.apply import resumed_plan
from rra.author.draft import Draft, make_draft
from rra.author.draft_environment import ENVIRONMENT, environment_readme
from rra.author.guide import fill_tables
from rra.author.guide_tables import GuideFacts, render_tables
from rra.author.launchers import compile_launcher
from rra.author.manifest_text import manifest_text
from rra.author.names import slug
from rra.author.plan import InitPlan, PlannedFile, Replacement
from rra.author.source import ignored_files, is_git_root, read_source, tracked_files
from rra.author.template_record import RECORD, read_record
from rra.author.templates import faults_of_template, made_from, render_template, replayed
from rra.author.uninstalled import own_commands
from rra.bundle.links import check_artifact_links
from rra.errors import FormatError, InternalError, UsageError
from rra.model import Manifest, RepairsDocument, SettingsDocument
from rra.scan import scan_repository
from rra.schema import check_document

_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,62}")
_NESTED_HINT = "put the repository into code/ instead, beside the artifact's files: rra init"
_IGNORE_OUTPUTS = (
    "outputs/ holds what runs leave; to hide it from git without changing the code: "
    "echo outputs/ >> .git/info/exclude"
)
_LINKS_SHOWN = 5
Files = dict[PurePosixPath, PlannedFile]


def plan_init(
    root: Path,
    *,
    nested: bool = False,
    template: str | None = None,
    name: str | None = None,
    answers: Mapping[str, str] | None = None,
    overwrite: bool = False,
    progress: Callable[[str], None] | None = None,
) -> InitPlan:
    """Work out what `init` will write into a directory; nothing is written.

    Args:
        root: The repository, or the directory of a new artifact when a template is given.
        nested: Move the repository into ``code/``.
        template: Name of a shipped template, or the path of a cookiecutter template.
        name: Id of the artifact; by default made from the directory's name.
        answers: Values of the template's variables, taken literally.
        overwrite: Consent to replace files that are there and differ; the plan shows how.
        progress: Called with one line of text per step.

    Raises:
        UsageError: There is no such directory, a name is not an id, or files are in the way.
        FormatError: The template is not one.
    """
    if name is not None and not _ID.fullmatch(name):
        message = f"{name!r} is not an id: lower-case letters, digits and hyphens, at most 63"
        raise UsageError(message, hint=f"for example: {slug(name, otherwise='artifact')}")
    if template is None and not root.is_dir():
        raise UsageError(missing(root), hint="give a directory, an archive or an address")
    resumed = resumed_plan(root)
    if resumed is not None:
        return resumed
    identity = name or slug(root.resolve().name, otherwise="artifact")
    if (root / layout.MANIFEST).exists() and not overwrite:
        _refuse_another(root, template, answers or {})
        note = f"{root} is an artifact already; nothing to do"
        return InitPlan(root, identity, {}, notes=(note,), exists=True)
    if template is not None:
        return _from_template(root, template, name, answers or {}, overwrite=overwrite)
    again = (root / layout.MANIFEST).exists()
    place = root / "code" if nested and again else root
    scan = scan_repository(place, progress=progress)
    draft = make_draft(scan, name=identity, nested=nested)
    if not nested and not again:
        _refuse_collisions(root)
    draft = _with_source(root if not again or not nested else place, draft)
    files = _files(draft)
    moves = _moves(root) if nested and not again else ()
    return _finish(root, identity, files, draft.notes, moves=moves, overwrite=overwrite)


def _refuse_another(root: Path, template: str | None, answers: Mapping[str, str]) -> None:
    """Refuse to take an artifact for what a template gives; nothing of it would change."""
    if template is None:
        return
    try:
        record = read_record(root)
    except UsageError as error:
        message = f"{root} is an artifact already, and was made from no template"
        hint = f"give another directory: rra init DIRECTORY --template {shlex.quote(template)}"
        raise UsageError(message, hint=hint) from error
    if not made_from(record, root, template):
        message = f"{root} is an artifact already, made from the template {record.template}"
        hint = f"give another directory: rra init DIRECTORY --template {shlex.quote(template)}"
        raise UsageError(message, hint=hint)
    if any(record.answers.get(key) != value for key, value in answers.items()):
        message = f"{root} is an artifact already, made with other answers"
        raise UsageError(message, hint=f"to change them: rra update {root} --set KEY=VALUE")


def _from_template(
    root: Path, template: str, name: str | None, answers: Mapping[str, str], *, overwrite: bool
) -> InitPlan:
    """Plan what a template gives, with the record that later versions are merged by."""
    identity = name or slug(root.resolve().name, otherwise="artifact")
    if name is None and Path(template).is_file():
        identity = str(replayed(Path(template), {})[1].get("name") or identity)
    rendered = render_template(template, root, identity, answers)
    manifest = rendered.files.get(PurePosixPath(layout.MANIFEST))
    with faults_of_template(rendered):
        in_place = manifest is not None and _of_template(manifest).code.root == "."
        files = with_tables(rendered.files)
    files = {**files, PurePosixPath(RECORD): PlannedFile(rendered.record.dumps())}
    if in_place:
        ignore = PurePosixPath(layout.IGNORE)  # or the record would be code
        before = files[ignore].data if ignore in files else b""
        files[ignore] = PlannedFile(before + f"/{RECORD}\n".encode())
    return _finish(root, identity, files, rendered.notes, overwrite=overwrite)


def _of_template(planned: PlannedFile) -> Manifest:
    """Read the manifest of a template; a fault in it is the template's."""
    try:
        return read_manifest(planned.data.decode("utf-8", "replace"))
    except InternalError as error:
        message = f"the template's {layout.MANIFEST} breaks the format"
        hint = "correct the template"
        raise FormatError(message, problems=error.problems, hint=hint) from error


def _refuse_collisions(root: Path) -> None:
    """Refuse an in-place draft where the repository has what the artifact would own."""
    names = collisions(root)
    if names:
        message = (
            f"the repository has its own {', '.join(names)}, which would belong to the artifact"
        )
        hint = f"{_NESTED_HINT} {shlex.quote(str(root))} --nested"
        raise UsageError(message, hint=hint)


def collisions(root: Path) -> list[str]:
    """Return what of a repository stands where an artifact in place has files of its own."""
    folders = [f"{name}/" for name in layout.OWNED_DIRS if _holds_files(root / name)]
    return [*folders, *(name for name in layout.OWNED_FILES if (root / name).exists())]


def _holds_files(folder: Path) -> bool:
    if folder.is_dir() and not folder.is_symlink():
        return any(True for _ in walk_files(folder))
    return folder.exists() or folder.is_symlink()


def _with_source(root: Path, draft: Draft) -> Draft:
    """Add the source tree, and exclude what git ignores from the code."""
    declared = [PurePosixPath(item.path) for item in draft.data]
    ignored = [
        path
        for path in ignored_files(root)
        if not _is_passed_over(PurePosixPath(path))
        and not any(d == PurePosixPath(path) for d in (() if draft.nested else declared))
    ]
    kept = [str(path) for path in tracked_files(root) if is_skipped(path)]
    patterns = [_literal_pattern(path) for path in ignored]
    patterns += [f"!{_literal_pattern(path)}" for path in kept]
    draft = dataclasses.replace(draft, exclude=tuple(patterns))
    if draft.nested:
        files = [
            path
            for path in walk_files(root)
            if path.parts[0] != ".git"
            and (not is_skipped(path) or str(path) in kept)
            and not any(path.is_relative_to(PurePosixPath(folder)) for folder in ignored)
        ]
    else:
        files = list(code_files(root, read_manifest(manifest_text(draft))))
    source = read_source(root, files)
    notes = draft.notes + source.notes + tuple(_link_notes(root, files))
    if source.patch:
        differ = counted(len(source.changed), "file differs", "files differ")
        notes += (f"{differ} from the last commit: see repair {texts.UNCOMMITTED}",)
    return dataclasses.replace(draft, source=source, notes=notes)


def _link_notes(root: Path, files: list[PurePosixPath]) -> Iterator[str]:
    """Yield a note for each symbolic link that `lock` and `run` will refuse."""
    problems = list(check_artifact_links(root, dict.fromkeys(files, "code")))
    for problem in problems[:_LINKS_SHOWN]:
        yield f"{problem.path} {problem.message}, which rra lock refuses: {problem.hint}"
    if len(problems) > _LINKS_SHOWN:
        yield f"and {counted(len(problems) - _LINKS_SHOWN, 'more link')} that rra lock refuses"


def _is_passed_over(path: PurePosixPath) -> bool:
    parts = path.parts[:-1] if path.suffix else path.parts
    return path.suffix == ".pyc" or any(part in layout.SKIPPED_DIRS for part in parts)


def _literal_pattern(path: str) -> str:
    """Write a path as a pattern that matches only it."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def read_manifest(text: str) -> Manifest:
    """Read a drafted manifest back.

    Raises:
        InternalError: It breaks the format; we wrote it, or the template did.
    """
    document = parse_yaml(text, source=layout.MANIFEST)
    faults = [p for p in check_document(document, "manifest") if p.severity == "error"]
    if faults:
        message = f"the drafted manifest breaks the format: {faults[0]}"
        raise InternalError(message, problems=tuple(faults), hint="please report this repository")
    return Manifest.model_validate(document.data)


def _files(draft: Draft) -> Files:
    """Return every file of a draft."""
    text = manifest_text(draft)
    contents = {
        layout.GUIDE: texts.guide_text(draft),
        layout.SETTINGS: texts.settings_text(draft),
        layout.REPAIRS: texts.repairs_text(draft),
        **texts.handoff_files(draft),
        layout.MANIFEST: text,
    }
    files = {
        PurePosixPath(path): PlannedFile(content.encode()) for path, content in contents.items()
    }
    files.update(_launcher_files(draft))
    if draft.other is not None:
        place = PurePosixPath(layout.ENVIRONMENT_DIR) / ENVIRONMENT / "README.md"
        files[place] = PlannedFile(environment_readme(draft.other).encode())
    if draft.source is not None and draft.source.patch:
        place = PurePosixPath(layout.PATCHES_DIR) / f"{texts.UNCOMMITTED}.patch"
        files[place] = PlannedFile(draft.source.patch)
    if draft.nested:
        files[PurePosixPath("README.md")] = PlannedFile(texts.readme_text(draft).encode())
        licence = draft.scan.licence
        if licence is not None and licence.path.name != "pyproject.toml":
            data = (draft.scan.root / licence.path).read_bytes()
            files[PurePosixPath("LICENSE")] = PlannedFile(data)
    return with_tables(files)


def with_tables(files: Files) -> Files:
    """Render the guide's tables from the documents that will lie beside it.

    Args:
        files: The files of an artifact by place.
    """

    def read(name: str) -> str:
        planned = files.get(PurePosixPath(name))
        return planned.data.decode() if planned is not None else ""

    guide = PurePosixPath(layout.GUIDE)
    if guide not in files or PurePosixPath(layout.MANIFEST) not in files:
        return files
    settings = parse_yaml(read(layout.SETTINGS), source=layout.SETTINGS).data or {}
    repairs = parse_yaml(read(layout.REPAIRS), source=layout.REPAIRS).data or {}
    facts = GuideFacts(
        read_manifest(read(layout.MANIFEST)),
        SettingsDocument.model_validate(settings).root,
        RepairsDocument.model_validate(repairs).ordered(),
    )
    text, _, _ = fill_tables(read(layout.GUIDE), render_tables(facts))
    return {**files, guide: PlannedFile(text.encode(), files[guide].mode)}


def _launcher_files(draft: Draft) -> Files:
    return {
        PurePosixPath(layout.LAUNCHERS_DIR) / f"{launcher.id}.sh": PlannedFile(
            compile_launcher(
                launcher.id,
                launcher.steps,
                environment=ENVIRONMENT,
                program=draft.other.program if draft.other else "python",
                code_root=draft.code_root,
                collect=dict(launcher.collect),
                parameters={p.name: str(p.default) for p in launcher.parameters},
                comments=[f"{launcher.origin}: {launcher.text}"] if launcher.text else [],
                own=own_commands(launcher, draft.scan),
            ).encode(),
            0o755,
        )
        for launcher in draft.launchers
    }


def _moves(root: Path) -> tuple[tuple[PurePosixPath, PurePosixPath], ...]:
    """Move every entry of the repository but git's own folder into ``code/``."""
    if (root / ".gitmodules").exists() and is_git_root(root):
        message = "the repository has git submodules, which git itself must move"
        raise UsageError(message, hint="make code/ yourself with git mv, then: rra init .")
    names = sorted(path.name for path in root.iterdir())
    return tuple(
        (PurePosixPath(name), PurePosixPath("code") / name)
        for name in names
        if name != ".git" and not name.startswith(".rra-staging-")
    )


def _finish(
    root: Path,
    identity: str,
    files: Files,
    notes: tuple[str, ...],
    *,
    moves: tuple[tuple[PurePosixPath, PurePosixPath], ...] = (),
    overwrite: bool,
) -> InitPlan:
    """Compare the files with what is there; refuse what would be overwritten without consent."""
    moved = {source for source, _ in moves}
    wanted: Files = {}
    replacements = []
    for path, planned in files.items():
        there = root / path
        if PurePosixPath(path.parts[0]) in moved or not (there.exists() or there.is_symlink()):
            wanted[path] = planned
        elif there.is_symlink() or not there.is_file():
            replacements.append(Replacement(path, "is not a plain file"))
        elif there.read_bytes() != planned.data:
            wanted[path] = planned
            replacements.append(Replacement(path, _diff(there, path, planned)))
    if replacements and not overwrite:
        names = ", ".join(str(replacement.path) for replacement in replacements)
        message = f"these files are there and differ from what init would write: {names}"
        hint = (
            "see the differences with --force --dry-run; then move the files away, or consent to "
            "their replacement with --force"
        )
        raise UsageError(message, hint=hint)
    blocked = [r for r in replacements if r.path not in wanted]
    if blocked:
        message = f"not a plain file: {', '.join(str(r.path) for r in blocked)}"
        raise UsageError(message, hint="move it away and run again")
    more = (_IGNORE_OUTPUTS,) if is_git_root(root) else ()
    return InitPlan(
        root=root,
        name=identity,
        files=wanted,
        moves=moves,
        replacements=tuple(replacements),
        blanks=tuple(_blanks(files)),
        notes=(*notes, *more),
    )


def _diff(there: Path, path: PurePosixPath, planned: PlannedFile) -> str:
    old = there.read_bytes().decode("utf-8", "replace").splitlines(keepends=True)
    new = planned.data.decode("utf-8", "replace").splitlines(keepends=True)
    return "".join(difflib.unified_diff(old, new, f"{path} (there)", f"{path} (init)"))


def _blanks(files: Files) -> list[tuple[PurePosixPath, int, str]]:
    pattern = re.compile(re.escape(layout.BLANK_MARK) + r":?\s*([^⟧\n]*)")
    return [
        (path, number, found[1].strip())
        for path, planned in sorted(files.items())
        if path.suffix in {".md", ".yaml"}
        for number, line in enumerate(planned.data.decode("utf-8", "replace").split("\n"), start=1)
        for found in pattern.finditer(line)
    ]
