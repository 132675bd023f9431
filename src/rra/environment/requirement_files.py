"""Reading ``requirements*.txt`` as people write them."""

from __future__ import annotations

import codecs
import dataclasses
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from rra.environment.conda_specs import read_conda_spec
from rra.environment.names import ALIASES
from rra.errors import Problem

_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COMMENT = re.compile(r"(^|\s)#.*$")
_HASH = re.compile(r"\s--hash[=\s](\S+)")
_FRAGMENT = re.compile(r"[#&](sha256=[0-9A-Fa-f]{64})\b")
_SHA256 = re.compile(r"^(?:sha256[:=])?([0-9a-f]{64})$")
_OTHERS = {"md5": 32, "sha1": 40, "sha224": 56, "sha384": 96, "sha512": 128}
"""Other algorithms that pip has had, with the hex digits of their digests."""
_LONGEST = 80
_HASH_HINT = "write --hash=sha256: and 64 hex digits, as `pip hash FILE` prints them"
_OPTION = re.compile(r"\s--(?:global-option|install-option|config-settings?)[=\s]\S+")
_INCLUDE = re.compile(r"^(?:-r|--requirement)[=\s]*(\S.*)$")
_CONSTRAINT = re.compile(r"^(?:-c|--constraint)[=\s]*(\S.*)$")
_EDITABLE = re.compile(r"^(?:-e|--editable)[=\s]*(\S.*)$")
_SOURCES = re.compile(
    r"^(?:-i|-f|--index-url|--extra-index-url|--find-links|--trusted-host|--no-index)\b"
)
_EGG = re.compile(r"[#&]egg=([A-Za-z0-9._-]+)")
_CONDA_EXPORT = re.compile(r"^[A-Za-z0-9_.-]+=[^=<>~!\s]+(=[^=\s]+)?$")
_LOCAL_LABEL = re.compile(r"==\s*([0-9][^\s,;+]*)\+[A-Za-z0-9.]+")


@dataclasses.dataclass
class Requirements:
    """What a file asks for: requirements (PEP 508) with their places, and remarks.

    Attributes:
        found: Requirement text and ``file:line``, in order.
        problems: What could not be taken over as it is written, and why.
        constraints: Requirements that only bound others.
        python: The Python that the file names, as a version (``3.7``) or a specifier
            (``>=3.8``); empty when it names none.
        hashes: SHA-256 (64 hex digits) that the files of a package may have, by its normalised
            name, where the file is a lock that says so.
    """

    found: list[tuple[str, str]] = dataclasses.field(default_factory=list)
    problems: list[Problem] = dataclasses.field(default_factory=list)
    constraints: list[str] = dataclasses.field(default_factory=list)
    python: str = ""
    hashes: dict[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)

    def remark(self, path: str, message: str, *, line: int | None = None, hint: str = "") -> None:
        """Note something that could not be taken over as it is written."""
        problem = Problem(message, path, line, hint=hint, severity="warning")
        self.problems.append(problem)

    def vouch(self, name: str, digests: Iterable[str]) -> None:
        """Note SHA-256 (64 hex digits) that the files of a package may have, each once."""
        known = self.hashes.get(canonicalize_name(name), ())
        if both := tuple(dict.fromkeys((*known, *digests))):
            self.hashes[canonicalize_name(name)] = both

    def take(self, text: str, path: str, line: int | None = None) -> None:
        """Take over one requirement, with a remark when it had to be changed."""
        requirement, remark = clean_requirement(text)
        if remark:
            self.remark(path, remark, line=line)
        if requirement is not None:
            self.found.append((requirement, f"{path}:{line}" if line else path))


def hashes_of(values: Iterable[object]) -> tuple[str, ...]:
    """Return the SHA-256 among digests, 64 hex digits each, in order and once."""
    matches = [_SHA256.match(str(value).lower()) for value in values]
    return tuple(dict.fromkeys(match[1] for match in matches if match is not None))


def is_one_build(text: str) -> bool:
    """Tell whether a requirement asks for one build of a version, as ``==1.9.0+cpu`` does."""
    return _LOCAL_LABEL.search(text) is not None


def of_any_build(text: str) -> str:
    """Return a requirement of one build as one of any build of that version."""
    return _LOCAL_LABEL.sub(lambda match: "==" + match[1], text)


def decode(data: bytes) -> tuple[str, str | None]:
    """Decode a text file of unknown encoding.

    Returns:
        The text with plain line ends, and a remark when it is not UTF-8.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            text = data.decode(encoding, "replace")
            remark = None if encoding == "utf-8-sig" else f"is {encoding}, not UTF-8"
            return _plain_lines(text), remark
    if data[1:2] == b"\0" or data[:1] == b"\0":
        encoding = "utf-16-be" if data[:1] == b"\0" else "utf-16-le"
        return _plain_lines(data.decode(encoding, "replace")), f"is {encoding}, not UTF-8"
    try:
        return _plain_lines(data.decode("utf-8")), None
    except UnicodeDecodeError:
        return _plain_lines(data.decode("latin-1")), "is not UTF-8; read as Latin-1"


def read_requirements(path: Path, root: Path) -> Requirements:
    """Read a requirements file and what it includes.

    Args:
        path: The file.
        root: Folder that includes may not leave.
    """
    result = Requirements()
    _read(path, root.resolve(), result, set(), constraint=False)
    return result


def clean_requirement(text: str) -> tuple[str | None, str]:
    """Bring one requirement into the form that is resolved.

    Returns:
        The requirement, or None when it cannot be used, and a remark (empty for none).
    """
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        return None, f"{text!r} is not a requirement: {str(error).splitlines()[0]}"
    given, name = requirement.name, canonicalize_name(requirement.name)
    cleaned: str | None = text
    remark = ""
    if name == "pkg-resources":
        cleaned, remark = None, "pkg-resources is an artefact of pip freeze on Debian; left out"
    elif requirement.url is not None and requirement.url.startswith("file:"):
        cleaned = given
        remark = f"{given} comes from a folder of another machine; its version is not known"
    elif name in ALIASES:
        cleaned = ALIASES[name]
        remark = f"{given} is not the package that is meant; {cleaned} is"
        if requirement.specifier:
            remark += ", and the version given is not one of it"
    return cleaned, remark


def _plain_lines(text: str) -> str:
    return text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield numbered lines with continuations joined and comments gone."""
    start, pending = 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        start = start or number
        if line.endswith("\\") and not line.lstrip().startswith("#"):
            pending += line[:-1] + " "
            continue
        whole = _COMMENT.sub("", pending + line).strip()
        if whole:
            yield start, whole
        start, pending = 0, ""
    if pending.strip():
        yield start, pending.strip()


def _read(
    path: Path, root: Path, result: Requirements, seen: set[Path], *, constraint: bool
) -> None:
    seen.add(path.resolve())
    name = path.resolve().relative_to(root).as_posix()
    text, remark = decode(path.read_bytes())
    if remark:
        result.remark(name, f"the file {remark}")
    for line, content in _logical_lines(text):
        include = _INCLUDE.match(content) or _CONSTRAINT.match(content)
        if include is None:
            _take(content, f"{name}:{line}", result, constraint=constraint)
            continue
        other = (path.parent / include[1].strip().strip("\"'")).resolve()
        bounds = constraint or _CONSTRAINT.match(content) is not None
        if not other.is_relative_to(root) or not other.is_file():
            message = f"includes {include[1]}, which is not in the repository"
            result.remark(name, message, line=line)
        elif other not in seen:
            _read(other, root, result, seen, constraint=bounds)


def _take(content: str, place: str, result: Requirements, *, constraint: bool) -> None:
    """Take over one line that is not an include."""
    name, line = place.rsplit(":", 1)
    if _SOURCES.match(content):
        option = re.split(r"[\s=]", content, maxsplit=1)[0]
        message = f"{option} names a source of packages; only your own index settings are used"
        hint = "if a package is only there, configure it for uv (UV_INDEX, UV_FIND_LINKS)"
        result.remark(name, message, line=int(line), hint=hint)
        return
    text = _OPTION.sub("", _HASH.sub("", content)).strip()
    editable = _EDITABLE.match(text)
    text = editable[1] if editable else text
    requirement, remark = _requirement(_FRAGMENT.sub("", text))
    if remark:
        hint = _OWN_CODE_HINT if _is_path(text) else ""
        result.remark(name, remark, line=int(line), hint=hint)
    if requirement is not None and constraint:
        result.constraints.append(requirement)
    elif requirement is not None:
        result.found.append((requirement, place))
        given = _HASH.findall(content)
        for digest in given:
            if fault := _fault_of(digest, alone=not hashes_of(given)):
                result.remark(name, fault, line=int(line), hint=_HASH_HINT)
        digests = [*given, *_FRAGMENT.findall(content)]
        result.vouch(Requirement(requirement).name, hashes_of(digests))


def _fault_of(digest: str, *, alone: bool) -> str:
    """Say why a digest behind ``--hash`` vouches for nothing; nothing where it does.

    One of another algorithm does no harm where it does not stand alone.
    """
    if hashes_of([digest]):
        return ""
    algorithm, _, digits = digest.partition(":")
    length = _OTHERS.get(algorithm.lower())
    if length and re.fullmatch(rf"[0-9a-fA-F]{{{length}}}", digits):
        return f"--hash={algorithm}:… is not compared: only SHA-256 is" if alone else ""
    return f"--hash={_shortened(digest)} is no SHA-256 digest, so it vouches for nothing"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


_OWN_CODE_HINT = (
    "code of the repository is run where it is: if it must be importable from elsewhere, set "
    "PYTHONPATH in the launcher"
)


def _requirement(text: str) -> tuple[str | None, str]:
    if text.startswith("-"):
        return None, f"option {text.split(maxsplit=1)[0]} is not used"
    if _is_path(text):
        return None, f"{text} is a folder or file of the repository; it is not installed"
    if "://" in text.partition("@")[0] or text.startswith("git+"):
        return _from_address(text)
    if _CONDA_EXPORT.match(text):
        return read_conda_spec(text)
    return clean_requirement(text)


def _is_path(text: str) -> bool:
    return text == "." or text.startswith(("./", "../", "/", ".[", "~"))


def _from_address(text: str) -> tuple[str | None, str]:
    """Give an address the name that PEP 508 wants in front of it."""
    egg = _EGG.search(text)
    address = text.partition("#")[0]
    if egg is not None:
        return f"{egg[1]} @ {address}", ""
    file_name = address.rsplit("/", 1)[-1]
    try:
        return f"{parse_wheel_filename(file_name)[0]} @ {address}", ""
    except InvalidWheelFilename:
        pass  # not a wheel; the repository's name is no reliable name of a package
    if text.startswith("git+"):
        guess = re.sub(r"\.git(@.*)?$|@[^/]*$", "", file_name)
        return f"{guess} @ {address}", f"the name {guess} is that of the repository"
    return None, f"{address} does not say which package it is; write: name @ address"
