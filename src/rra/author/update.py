"""Merging a newer version of a template into an artifact that was made from an older one.

Each file is merged by itself, three ways: what the template gave then, what it gives now, and
what the author has made of it. Files are written one after the other, each whole, and the
record last: after a kill the same call finishes what was begun, since a change that is there
already merges into nothing.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Literal

from rra._base.files import atomic_write, safe_join, storage_errors
from rra._base.resources import templates
from rra._base.yaml import parse_yaml
from rra.artifact import layout, load_artifact
from rra.author.guide import without_tables
from rra.author.init import with_tables
from rra.author.merge import Conflicts, merge_text
from rra.author.plan import PlannedFile
from rra.author.template_record import (
    RECORD,
    RecordedFile,
    TemplateRecord,
    read_record,
    recorded,
    text_of,
)
from rra.author.templates import made_from, render_template, replayed
from rra.errors import RraError, UnsafePathError, UsageError
from rra.schema import check_document

What = Literal["added", "updated", "merged", "removed", "conflict", "kept"]
_GUIDE = PurePosixPath(layout.GUIDE)
_MANIFEST = PurePosixPath(layout.MANIFEST)


@dataclasses.dataclass(frozen=True)
class FileUpdate:
    """What becomes of one file.

    Attributes:
        path: Its place.
        what: ``added`` and ``updated`` are the template's, ``merged`` holds changes of both,
            ``kept`` is the author's against the template, and ``conflict`` waits for the author.
        diff: Unified diff of what is written, or of what stands against each other.
        why: One line, where there is more to say.
        marked: Whether the conflicts are marked in it, so that only its author can go on.
    """

    path: PurePosixPath
    what: What
    diff: str = ""
    why: str = ""
    marked: bool = False


@dataclasses.dataclass(frozen=True)
class UpdatePlan:
    """What an update is going to do; nothing is written yet.

    Attributes:
        root: Directory of the artifact.
        template: Name or path of the template.
        before: Version that the artifact was made from, or last updated to.
        after: Version that is merged in.
        updates: What becomes of each file that is touched or stands in the way.
        files: Files to write.
        removed: Files to remove: the template has them no more, and they were never changed.
        notes: What the author should know.
    """

    root: Path
    template: str
    before: str
    after: str
    updates: tuple[FileUpdate, ...]
    files: Mapping[PurePosixPath, PlannedFile]
    removed: tuple[PurePosixPath, ...]
    notes: tuple[str, ...]

    @property
    def conflicts(self) -> tuple[FileUpdate, ...]:
        """The files that wait for the author."""
        return tuple(update for update in self.updates if update.what == "conflict")


@dataclasses.dataclass
class _Merged:
    """One file while it is decided: what is written (None: nothing), and the new ancestor."""

    update: FileUpdate | None
    data: bytes | None = None
    executable: bool = False
    base: RecordedFile | None = None


def plan_update(
    root: Path,
    *,
    template: str | None = None,
    answers: Mapping[str, str] | None = None,
    conflicts: Conflicts = "leave",
) -> UpdatePlan:
    """Work out what an update will do to an artifact; nothing is written.

    Args:
        root: Directory of the artifact.
        template: Where the template is now; by default what the record says.
        answers: New values of variables; the others are those of the record.
        conflicts: What becomes of lines that both have changed: ``leave`` the author's file as
            it is, take the ``author``'s or the ``template``'s, or ``mark`` both in the file.

    Raises:
        UsageError: The artifact was not made from a template, or the template is gone.
        FormatError: The record, a document of the artifact or the template cannot be read.
        ToolMissingError: git, which merges, is not installed.
    """
    load_artifact(root)
    record = read_record(root)
    if template is not None:
        _refuse_another(record, root, template)
    source, given = replayed(root / RECORD, answers or {}, moved=template)
    lost = sorted(set(record.answers) - set(given))
    name = str(given.pop("name", "artifact"))
    rendered = render_template(source, root, name, given)
    notes = list(rendered.notes)
    if lost:
        notes.append(f"the template has no variable {', '.join(lost)} any more")
    merged: dict[PurePosixPath, _Merged] = {}
    for path in sorted({*record.files, *rendered.files}):
        merged[path] = _merge(
            root, path, record.files.get(path), rendered.files.get(path), conflicts=conflicts
        )
    _keep_valid(merged, record)
    notes += _render_guide(root, merged)
    updates = tuple(m.update for m in merged.values() if m.update is not None)
    waiting = any(update.what == "conflict" for update in updates)
    after = rendered.record.version
    new = dataclasses.replace(
        rendered.record,
        version=record.version if waiting else after,
        files={path: m.base for path, m in merged.items() if m.base is not None},
    )
    files = {
        path: PlannedFile(m.data, 0o755 if m.executable else 0o644)
        for path, m in merged.items()
        if m.data is not None
    }
    if new.dumps() != (root / RECORD).read_bytes():
        files[PurePosixPath(RECORD)] = PlannedFile(new.dumps())
    removed = tuple(update.path for update in updates if update.what == "removed")
    return UpdatePlan(
        root=root,
        template=new.template,
        before=record.version,
        after=after,
        updates=updates,
        files=files,
        removed=removed,
        notes=tuple(notes),
    )


def _refuse_another(record: TemplateRecord, root: Path, template: str) -> None:
    """Refuse to merge in another template than the one that an artifact was made from.

    One whose folder is gone has moved; nothing else tells two templates apart, since every
    file of a template may change from version to version.
    """
    if made_from(record, root, template):
        return
    shipped = {record.template, template} & set(templates())
    there = (root / record.template).is_dir()
    if not shipped and not there:
        return
    message = f"the artifact was made from the template {record.template}, not from {template}"
    hint = "start a new artifact from that one: rra init DIRECTORY --template NAME"
    if not shipped:
        hint = f"a newer version goes to where the old one is, {record.template}; or {hint}"
    raise UsageError(message, hint=hint)


def apply_update(plan: UpdatePlan) -> None:
    """Carry an update out; the record is written last.

    Raises:
        StorageError: The disk is full or refuses; the same call finishes what was begun.
    """
    for path in sorted(plan.files, key=lambda p: (str(p) == RECORD, str(p))):
        planned = plan.files[path]
        if str(path) == RECORD:
            for gone in plan.removed:
                with storage_errors(plan.root / gone):
                    safe_join(plan.root, gone).unlink(missing_ok=True)
        atomic_write(safe_join(plan.root, path), planned.data, mode=planned.mode)


def _merge(
    root: Path,
    path: PurePosixPath,
    base: RecordedFile | None,
    new: PlannedFile | None,
    *,
    conflicts: Conflicts,
) -> _Merged:
    """Decide about one file."""
    there = _current(root, path)
    if new is None:
        return _gone(path, base, there)
    fresh = recorded(new)
    if there is None:
        if base is None:
            return _Merged(
                FileUpdate(path, "added"), new.data, executable=fresh.executable, base=fresh
            )
        why = "you removed it, and it stays removed"
        changed = base.sha256 != fresh.sha256
        return _Merged(FileUpdate(path, "kept", why=why) if changed else None, base=fresh)
    now = recorded(there)
    if _same(path, base, fresh) or _same(path, now, fresh):
        return _Merged(None, base=fresh)
    if _same(path, base, now):
        update = FileUpdate(path, "updated", _diff(path, there.data, new.data))
        return _Merged(update, new.data, executable=fresh.executable, base=fresh)
    return _both(path, base, there, new, conflicts=conflicts)


def _current(root: Path, path: PurePosixPath) -> PlannedFile | None:
    place = safe_join(root, path)
    if place.is_symlink() or (place.exists() and not place.is_file()):
        message = f"{path} is not a plain file any more, so nothing can be merged into it"
        raise UnsafePathError(message, hint="put a plain file in its place, or remove it")
    if not place.is_file():
        return None
    mode = 0o755 if place.stat().st_mode & 0o100 else 0o644
    return PlannedFile(place.read_bytes(), mode)


def _same(path: PurePosixPath, one: RecordedFile | None, other: RecordedFile) -> bool:
    """Tell whether two states of a file are the same; the guide's tables do not count."""
    if one is None:
        return False
    if path == _GUIDE and one.text is not None and other.text is not None:
        return without_tables(one.text) == without_tables(other.text)
    return (one.sha256, one.executable) == (other.sha256, other.executable)


def _gone(path: PurePosixPath, base: RecordedFile | None, there: PlannedFile | None) -> _Merged:
    """Decide about a file that the template has no more."""
    if there is None or base is None:
        return _Merged(None)
    if _same(path, base, recorded(there)):
        return _Merged(FileUpdate(path, "removed", why="the template has it no more"))
    why = "the template has it no more; you changed it, so it stays"
    return _Merged(FileUpdate(path, "kept", why=why))


def _both(
    path: PurePosixPath,
    base: RecordedFile | None,
    there: PlannedFile,
    new: PlannedFile,
    *,
    conflicts: Conflicts,
) -> _Merged:
    """Merge a file that the author and the template have changed."""
    fresh = recorded(new)
    texts = (text_of(there.data), base.text if base else "", text_of(new.data))
    mine, old, theirs = texts
    executable = bool(there.mode & 0o100)
    if base is None or base.executable == executable:
        executable = fresh.executable
    if mine is None or old is None or theirs is None:
        return _whole(path, base, there, new, conflicts=conflicts)
    if path == _GUIDE:
        mine, old, theirs = (without_tables(text) for text in (mine, old, theirs))
    text, count, hunks = merge_text(mine, old, theirs, conflicts=conflicts)
    if count and conflicts == "leave":
        places = "1 place" if count == 1 else f"{count} places"
        why = f"both have changed {places}; your file is as it was"
        return _Merged(FileUpdate(path, "conflict", hunks, why), base=base)
    data = text.encode()
    if path == _GUIDE and text == mine:
        return _Merged(None, base=fresh)
    if data == there.data and executable == bool(there.mode & 0o100):
        return _Merged(
            FileUpdate(path, "kept", why="your lines stay") if count else None, base=fresh
        )
    marked = count > 0 and conflicts == "mark"
    said = "1 conflict is" if count == 1 else f"{count} conflicts are"
    why = f"{said} marked in it" if marked else ""
    what: What = "conflict" if marked else "merged"
    return _Merged(
        FileUpdate(path, what, _diff(path, there.data, data), why, marked=marked),
        data,
        executable=executable,
        base=fresh,
    )


def _whole(
    path: PurePosixPath,
    base: RecordedFile | None,
    there: PlannedFile,
    new: PlannedFile,
    *,
    conflicts: Conflicts,
) -> _Merged:
    """Choose between two states of a file that cannot be merged line by line."""
    fresh = recorded(new)
    if conflicts == "template":
        update = FileUpdate(path, "updated", why="the template's, not yours: it is no text")
        return _Merged(update, new.data, executable=fresh.executable, base=fresh)
    if conflicts == "author":
        return _Merged(FileUpdate(path, "kept", why="yours: it is no text"), base=fresh)
    sizes = f"{len(there.data):,} and {len(new.data):,} bytes"
    why = f"both have changed it and it cannot be merged line by line ({sizes})"
    return _Merged(FileUpdate(path, "conflict", why=why), base=base)


def _diff(path: PurePosixPath, old: bytes, new: bytes) -> str:
    before, after = (
        data.decode("utf-8", "replace").splitlines(keepends=True) for data in (old, new)
    )
    return "".join(difflib.unified_diff(before, after, f"{path} (yours)", f"{path} (updated)"))


def _keep_valid(merged: dict[PurePosixPath, _Merged], record: TemplateRecord) -> None:
    """Leave the manifest alone where two good texts have merged into one that is not.

    Nor is one with marks in it, which no verb could read any more.
    """
    manifest = merged.get(_MANIFEST)
    if manifest is None or manifest.data is None or manifest.update is None:
        return
    try:
        document = parse_yaml(manifest.data.decode(), source=layout.MANIFEST)
        faults = [p for p in check_document(document, "manifest") if p.severity == "error"]
        what = str(faults[0]) if faults else ""
    except RraError as error:
        what = error.message
    if what:
        why = f"merged, it would break the format: {what}"
        update = dataclasses.replace(manifest.update, what="conflict", why=why, marked=False)
        merged[_MANIFEST] = _Merged(update, base=record.files.get(_MANIFEST))


def _render_guide(root: Path, merged: dict[PurePosixPath, _Merged]) -> Iterator[str]:
    """Fill the tables of a guide that is written, from the documents as they will be."""
    guide = merged.get(_GUIDE)
    if guide is None or guide.data is None or guide.update is None:
        return
    files = {_GUIDE: PlannedFile(guide.data)}
    for name in (layout.MANIFEST, layout.SETTINGS, layout.REPAIRS):
        path = PurePosixPath(name)
        planned = merged.get(path)
        data = planned.data if planned is not None else None
        if data is None and (root / name).is_file():
            data = (root / name).read_bytes()
        if data is not None:
            files[path] = PlannedFile(data)
    try:
        guide.data = with_tables(files)[_GUIDE].data
    except (RraError, ValueError):
        yield f"the tables of {layout.GUIDE} could not be rendered yet: correct it, then rra guide"
        return
    there = _current(root, _GUIDE)
    if there is not None:
        guide.update = dataclasses.replace(guide.update, diff=_diff(_GUIDE, there.data, guide.data))
