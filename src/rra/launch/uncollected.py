"""Files that a run wrote into its copy of the code and that nothing keeps.

The copy goes with the run. A result that a program writes beside itself is lost with it unless
the launcher's ``collect`` names it, so what looks like a result is said by name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path, PurePosixPath

from rra._base.files import sha256_file
from rra.launch.inventory import TreeChanges, regular_files

_ENDINGS = (
    ".csv .eps .h5 .hdf5 .html .ipynb .jpeg .jpg .json .jsonl .mat .md .ndjson .npy .npz .out"
    " .parquet .pdf .png .rds .svg .tex .tsv .txt .xlsx .xml .yaml .yml"
)
_RESULTS = frozenset(_ENDINGS.split())
_FOLDERS = frozenset({"results", "result", "outputs", "output", "figures", "tables", "runs"})
_NO_RESULTS = frozenset({"build", "dist", "node_modules", "tmp", "temp", "venv"})
_MAX_README_BYTES = 1 << 20


def uncollected(
    changes: TreeChanges, collected: Collection[PurePosixPath], *, code: Path, outputs: Path
) -> list[PurePosixPath]:
    """Return what looks like a result among the files that a run wrote and nothing took.

    A file looks like one by its ending, by a folder such as ``results``, or because the README
    names it. Caches, hidden files and files of which the outputs hold a copy are passed over.

    Args:
        changes: What the run did to the code.
        collected: Files of the code that ``collect`` took.
        code: The copy of the code.
        outputs: What is kept of the run.
    """
    left = [path for path in changes.written if path not in collected and not _is_cache(path)]
    if not left:
        return []
    readme = _readme(code)
    found = [path for path in left if _looks_like_a_result(path) or str(path) in readme]
    return [path for path in found if not _has_copy(code / path, outputs)]


def _is_cache(path: PurePosixPath) -> bool:
    names = path.parts
    return (
        any(name.startswith(".") or name.endswith(".egg-info") for name in names)
        or any("cache" in name.lower() or name.lower() in _NO_RESULTS for name in names[:-1])
        or path.suffix in {".pyc", ".pyo"}
    )


def _looks_like_a_result(path: PurePosixPath) -> bool:
    return path.suffix.lower() in _RESULTS or any(
        name.lower() in _FOLDERS for name in path.parts[:-1]
    )


def _readme(code: Path) -> str:
    texts: Iterable[Path] = sorted(code.glob("README*"))
    parts = []
    for path in texts:
        if path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                parts.append(file.read(_MAX_README_BYTES).decode("utf-8", "replace"))
    return "\n".join(parts)


def _has_copy(file: Path, outputs: Path) -> bool:
    size = file.stat().st_size
    kept = (outputs / path for path, status in regular_files(outputs) if status.st_size == size)
    return any(sha256_file(other) == sha256_file(file) for other in kept)
