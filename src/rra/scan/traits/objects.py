"""Single facts of a repository, as frozen values; each says where it stands."""

from __future__ import annotations

import dataclasses
from pathlib import PurePosixPath
from typing import Literal

GpuNeed = Literal["needed", "optional", "none"]


@dataclasses.dataclass(frozen=True, slots=True)
class Download:
    """Something that code or a command brings from elsewhere.

    Attributes:
        what: The URL, with ``*`` for parts that only a run knows, or the catalogue and the name
            there, such as ``torchvision CIFAR10``.
        by: The function or command.
        path: File that asks for it.
        line: Line there.
    """

    what: str
    by: str
    path: PurePosixPath
    line: int


@dataclasses.dataclass(frozen=True, slots=True)
class Checkpoint:
    """A file of a trained model that code or a command names.

    Attributes:
        name: Path as it is named; parts that only a run knows are ``*``.
        path: File that names it.
        line: Line there; 0 when it is a file of the repository that nothing names.
        committed: Whether the file is in the repository.
    """

    name: str
    path: PurePosixPath
    line: int
    committed: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Seed:
    """A place where randomness is fixed, or is used.

    Attributes:
        library: Whose generator: ``numpy``, ``torch``, ``random``, …
        call: The function.
        value: The seed when it stands in the code, ``None`` as text when it is left to chance,
            or empty when only a run knows it.
        path: File of the call.
        line: Line there.
    """

    library: str
    call: str
    value: str
    path: PurePosixPath
    line: int


@dataclasses.dataclass(frozen=True, slots=True)
class Device:
    """A place that asks for an accelerator, whatever the machine has.

    Attributes:
        text: What it says: ``.cuda()``, ``cuda:0``, ``CUDA_VISIBLE_DEVICES``, …
        path: File that says it.
        line: Line there.
        guarded: Whether the code around it asks first whether there is one.
    """

    text: str
    path: PurePosixPath
    line: int
    guarded: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Gpu:
    """Whether a GPU is needed, and why that is thought.

    Attributes:
        need: ``needed``, ``optional`` (used when there is one) or ``none``.
        why: Places that say so, as ``file:line text``.
    """

    need: GpuNeed
    why: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Language:
    """A language of the repository.

    Attributes:
        name: Name of the language or build tool.
        files: How many files of the repository are written in it.
        size: Their bytes.
        environment: Files that say what it needs, such as ``renv.lock``.
        build: Files that say how it is built, such as a ``Makefile``.
    """

    name: str
    files: int
    size: int
    environment: tuple[PurePosixPath, ...] = ()
    build: tuple[PurePosixPath, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class LfsPointer:
    """A Git LFS pointer that stands in place of a file's content.

    Attributes:
        path: The file.
        oid: Digest of the content that is missing, as ``sha256:…``; empty when it is not said.
        size: Bytes of that content.
    """

    path: PurePosixPath
    oid: str
    size: int


@dataclasses.dataclass(frozen=True, slots=True)
class Submodule:
    """A Git submodule.

    Attributes:
        path: Folder that it belongs in.
        url: Where it comes from; a user name and password are left out.
        present: Whether anything lies there.
    """

    path: PurePosixPath
    url: str
    present: bool


@dataclasses.dataclass(frozen=True, slots=True)
class NotebookState:
    """How a notebook was left.

    Attributes:
        path: The notebook.
        code_cells: Code cells that hold anything.
        executed: How many of them have an execution count.
        outputs: How many of them have stored outputs.
        in_order: Whether the counts that are there rise from top to bottom.
        errors: Errors among the stored outputs, as ``name: message``.
        missing_names: Names that are used before any cell above defines them.
        problem: Why it cannot be read, or empty.
    """

    path: PurePosixPath
    code_cells: int = 0
    executed: int = 0
    outputs: int = 0
    in_order: bool = True
    errors: tuple[str, ...] = ()
    missing_names: tuple[str, ...] = ()
    problem: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class PythonRange:
    """The versions of Python that the code can run on.

    Attributes:
        minimum: Lowest version, such as ``3.8``; empty when nothing tells.
        below: The version that is too new; empty when nothing tells.
        why: Places that say so, as ``file:line what``.
    """

    minimum: str
    below: str
    why: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class StaleFile:
    """A stored result that was last committed before the code that makes it.

    Attributes:
        path: The result, or the notebook with stored outputs.
        code: The file of code that was committed later.
        days: Days between the two commits.
    """

    path: PurePosixPath
    code: PurePosixPath
    days: int


@dataclasses.dataclass(frozen=True, slots=True)
class Pins:
    """How exactly a manifest names what is needed.

    Attributes:
        path: The manifest.
        requirements: How many requirements it names.
        pinned: How many of them allow one version only.
        committed: Day of its last commit, in UTC; empty when that is not known.
    """

    path: PurePosixPath
    requirements: int
    pinned: int
    committed: str


@dataclasses.dataclass(frozen=True, slots=True)
class AbsentData:
    """A data file that code reads and that is neither in the repository nor written by it.

    Attributes:
        path: Path relative to the repository; parts that only a run knows are ``*``.
        readers: Scripts that read it.
    """

    path: str
    readers: tuple[PurePosixPath, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Traits:
    """All facts of a repository beyond how it is run."""

    downloads: tuple[Download, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    seeds: tuple[Seed, ...] = ()
    unseeded: tuple[Seed, ...] = ()
    devices: tuple[Device, ...] = ()
    gpu: Gpu = dataclasses.field(default_factory=lambda: Gpu("none", ()))
    languages: tuple[Language, ...] = ()
    lfs_pointers: tuple[LfsPointer, ...] = ()
    submodules: tuple[Submodule, ...] = ()
    notebooks: tuple[NotebookState, ...] = ()
    python: PythonRange = dataclasses.field(default_factory=lambda: PythonRange("", "", ()))
    stale: tuple[StaleFile, ...] = ()
    pins: tuple[Pins, ...] = ()
    absent_data: tuple[AbsentData, ...] = ()
    last_commit: str = ""
