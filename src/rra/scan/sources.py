"""The texts of a repository that a scan reads: shell scripts, documents, build files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath

from rra.scan.documents import DOCUMENT
from rra.scan.filenames import is_configuration
from rra.scan.foreign import ForeignFile, is_foreign, read_foreign
from rra.scan.snakefiles import is_snakefile
from rra.scan.text import read_text
from rra.scan.windows import is_batch

_SHELL = re.compile(r"\.(?:sh|bash|zsh|ksh|slurm|sbatch|pbs)$|^(?:GNUm|M|m)akefile$")
_FIRST_LINE = re.compile(rb"^#!\s*\S*?(?:/|\s)(?:ba|z|k|da)?sh\b")
_PAGE = re.compile(r"(?i)^(?:(?:docs?|documentation|web|website|www|site)/(?:\w+/)?)?[^/]+\.html?$")
_ENVIRONMENT = re.compile(r"(?i)^(?:environment|conda|env)[\w.-]*\.ya?ml$")
_MAX_FIRST_LINES = 2_000
_MAX_SCRIPT_BYTES = 200_000
_MAX_DOCUMENTS = 200
_MAX_FOREIGN = 1_000

Sizes = Mapping[PurePosixPath, int]


def read_texts(
    root: Path, files: Iterable[PurePosixPath], wanted: Callable[[PurePosixPath], bool]
) -> dict[PurePosixPath, str]:
    """Return the texts of those files that are wanted and are text.

    Args:
        root: The repository.
        files: Its files.
        wanted: Tells which.
    """
    found = {}
    for path in files:
        text = read_text(root / path) if wanted(path) else None
        if text is not None:
            found[path] = text
    return found


def shell_sources(root: Path, files: Sizes) -> dict[PurePosixPath, str]:
    """Return the texts of shell scripts and Makefiles: by their names, or by their first line.

    Args:
        root: The repository.
        files: Its files with their sizes.
    """
    unnamed = [p for p in files if not p.suffix and 2 < files[p] <= _MAX_SCRIPT_BYTES]
    scripts = {path for path in unnamed[:_MAX_FIRST_LINES] if _starts_a_shell(root / path)}
    return read_texts(root, files, lambda path: bool(_SHELL.search(path.name)) or path in scripts)


def batch_sources(root: Path, files: Iterable[PurePosixPath]) -> dict[PurePosixPath, str]:
    """Return the texts of batch files and of scripts of PowerShell.

    Args:
        root: The repository.
        files: Its files.
    """
    return read_texts(root, files, is_batch)


def snakefiles(root: Path, files: Iterable[PurePosixPath]) -> dict[PurePosixPath, str]:
    """Return the texts of workflows of Snakemake.

    Args:
        root: The repository.
        files: Its files.
    """
    return read_texts(root, files, is_snakefile)


def _starts_a_shell(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return bool(_FIRST_LINE.match(file.read(80)))
    except OSError:
        return False


def documents(root: Path, files: Sizes) -> dict[PurePosixPath, str]:
    """Return the texts of documents, READMEs first and those near the root first.

    Args:
        root: The repository.
        files: Its files with their sizes.
    """
    paths = [path for path in files if DOCUMENT.search(path.name) or _PAGE.match(str(path))]
    paths.sort(key=lambda p: (not p.name.lower().startswith("readme"), len(p.parts), str(p)))
    chosen = set(paths[:_MAX_DOCUMENTS])
    texts = read_texts(root, files, lambda path: path in chosen)
    return {path: texts[path] for path in paths[:_MAX_DOCUMENTS] if path in texts}


def foreign_files(root: Path, files: Sizes) -> dict[PurePosixPath, ForeignFile]:
    """Return the code of other languages, read for the files that it uses.

    Args:
        root: The repository.
        files: Its files with their sizes.
    """
    chosen = {path for path in files if is_foreign(path) and files[path] <= _MAX_SCRIPT_BYTES}
    kept = set(sorted(chosen, key=lambda path: (len(path.parts), str(path)))[:_MAX_FOREIGN])
    texts = read_texts(root, files, lambda path: path in kept)
    return {path: read_foreign(path, text) for path, text in texts.items()}


def setting_texts(root: Path, files: Sizes) -> dict[PurePosixPath, str]:
    """Return the texts of settings, environments and code of other languages.

    Args:
        root: The repository.
        files: Its files with their sizes.
    """
    wanted = [
        path
        for path in files
        if files[path] <= _MAX_SCRIPT_BYTES
        and (is_configuration(path) or is_foreign(path) or _ENVIRONMENT.match(path.name))
    ]
    kept = set(wanted[:_MAX_FOREIGN])
    return read_texts(root, files, lambda path: path in kept)


def root_texts(root: Path, files: Sizes) -> Iterator[tuple[PurePosixPath, str]]:
    """Yield the small files of the repository's own folder with their texts.

    Args:
        root: The repository.
        files: Its files with their sizes.
    """
    for path, size in files.items():
        if len(path.parts) == 1 and size < _MAX_SCRIPT_BYTES:
            text = read_text(root / path)
            if text is not None:
                yield path, text
