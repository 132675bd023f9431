"""What identifies the authors of an artifact: everything that is blanked, in one place.

Two kinds of texts are known. What the packed files say themselves (authors, affiliations,
citation, licence, metadata of packages and notebooks, headers of patches, folders of users) is
replaced wherever it stands, so that the result is the same on every machine. What only this
machine knows (its name, its user, the configuration and history of git) is looked for and never
replaced: where it is found, the packing stops and the author names it.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from rra._base.yaml import parse_yaml
from rra.author.anonymous import people
from rra.author.anonymous.identifier import Identifier, Kind, fold
from rra.author.anonymous.people import EMAIL, Words
from rra.errors import FormatError
from rra.model import Manifest, Paper

Texts = Iterable[tuple[PurePosixPath, str]]

LICENCES = re.compile(r"(?:licen[cs]e|copying|copyright|notice)(?:[.-].*)?", re.IGNORECASE)
"""Names of files whose copyright lines are blanked."""

PEOPLE_LISTS = re.compile(
    r"(?:authors?|contributors?|maintainers?|credits|acknowledge?ments?|codeowners|\.mailmap"
    r"|citation|codemeta\.json|\.zenodo\.json)(?:\.(?:md|rst|txt|cff|bib|json))?",
    re.IGNORECASE,
)
"""Names of files that name people and do nothing else: their whole content is left out."""

COPYRIGHT = re.compile(
    r"^(?P<lead>.*?\bcopyright\b[ \t,:]*(?=\(c\)|©|&copy;|\d{4})(?:\(c\)|©|&copy;)?[ \t,:]*"
    r"(?:(?:\d{4}|<year>)(?:[ ]*[-–][ ]*(?:\d{4}|present))?[, ]*)*(?:by[ ]+)?)"
    r"(?P<holder>[^\r\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
HOME = re.compile(
    r"(?:/(?:home|Users)/|[A-Za-z]:(?:\\{1,4}|/)(?:Users|Documents and Settings)(?:\\{1,4}|/))"
    r"(?P<user>[A-Za-z_][\w.-]*)"
)
FORGE = re.compile(
    r"(?:https?://|ssh://|git://|git\+\w+://)?(?:[\w.-]+@)?(?P<host>[\w-]+(?:\.[\w-]+)+)"
    r"(?::\d+)?[:/](?P<owner>[\w.~-]+)/(?P<name>[\w.-]+?)(?:\.git)?(?:[/#?].*)?"
)
_PATCH = re.compile(
    r"^(?:From|Author|Committer|Signed-off-by|Co-authored-by|Reviewed-by|Acked-by|Tested-by):"
    r"[ \t]*(?P<who>[^\r\n]+)$",
    re.MULTILINE | re.IGNORECASE,
)
_MODULE = re.compile(
    r"""^(?:__(?P<dunder>author|email|maintainer)__\s*=\s*["'](?P<a>[^"'\n]+)["']"""
    r"""|[#\s*"']*@author:?\s+(?P<b>[^\n"']+))""",
    re.MULTILINE,
)
_SETUP = re.compile(
    r"""^\s*(?P<key>author|author_email|maintainer|maintainer_email)\s*[=:]\s*["']?(?P<v>[^"'\n]+)""",
    re.MULTILINE | re.IGNORECASE,
)
_DOI = re.compile(r"10\.\d{4,9}/[^\s\"'<>]+")
_IMAGE = re.compile(
    r"(?:[\w.-]+(?::\d+)?/)?(?P<owner>[\w.-]+)/[\w./-]+(?::[\w.-]+)?(?:@sha256:.*)?"
)
_IMAGES = {"library", "nvidia", "pytorch", "tensorflow", "continuumio", "mambaorg", "rocker"}
_IMAGES |= {"jupyter", "condaforge", "intel", "amd", "r-base", "bioconductor", "prefix-dev"}
_NO_ORCID = "0000-0000-0000-0001"
_SHORTEST_COMMIT = 7
_R_PERSON = re.compile(
    r"""person\(\s*(?:given\s*=\s*)?"([^"]+)"\s*,\s*(?:family\s*=\s*)?"([^"]+)"""
)
_PEOPLE_KEYS = {"author", "authors", "creator", "creators", "maintainer", "maintainers"}
_PEOPLE_KEYS |= {"contributor", "contributors", "contact"}
_REPOSITORY_KEYS = {"repository", "repository-code", "coderepository", "homepage", "source"}
_PACKAGE_FILES = {"setup.py", "setup.cfg", "DESCRIPTION"}
_FORGES = re.compile(
    r"(?:^|[./@])(?:github|gitlab|codeberg|bitbucket|gitee|huggingface|sr\.ht|sourcehut|gitea|git)\b"
    r"|\.git/?$",
    re.IGNORECASE,
)


def collect(
    manifest: Manifest,
    texts: Texts,
    *,
    also: Iterable[str] = (),
    keep: Iterable[str] = (),
    keep_paper: bool = False,
) -> list[Identifier]:
    """Return what identifies the authors, by the files that are packed and what they were told.

    Args:
        manifest: The manifest.
        texts: Path and text of each file that is text.
        also: Texts that the author names.
        keep: Texts that identify nobody, whatever they look like.
        keep_paper: Whether the paper is somebody else's, and stays named.
    """
    words = Words()
    found = [*_manifest(manifest, words, keep_paper=keep_paper)]
    found += [one for text in also for one in _also(text, words)]
    for path, text in texts:
        found += _in_file(path, text, words)
    kept = {fold(text).strip() for text in keep}
    chosen: dict[tuple[str, bool], Identifier] = {}
    for one in found:
        if fold(one.text) in kept:
            continue
        known = chosen.get((fold(one.text), one.certain))
        if known is None or (known.capital and not one.capital):
            chosen[fold(one.text), one.certain] = one
    return list(chosen.values())


def _also(text: str, words: Words) -> Iterator[Identifier]:
    source = "--also"
    if EMAIL.fullmatch(text):
        yield from people.email(text, words, source)
    elif re.fullmatch(r"[0-9a-f]{7,64}", text):
        yield commit(text, source)
    else:
        yield Identifier(text, Kind.GIVEN_TEXT, words.person(text), source)


def _manifest(manifest: Manifest, words: Words, *, keep_paper: bool) -> Iterator[Identifier]:
    for author in manifest.authors or ():
        yield from _author(author.model_dump(mode="json"), words, "authors of rra.yaml")
    if manifest.paper is not None and not keep_paper:
        yield from _paper(manifest.paper, words, "paper of rra.yaml")
    source = manifest.source
    if source is not None and source.repository:
        yield from repository(source.repository, words, "source of rra.yaml")
    if source is not None and source.commit:
        yield commit(source.commit, "source of rra.yaml")
    for environment in manifest.environments.values():
        image = getattr(environment, "base_image", None)
        match = _IMAGE.fullmatch(image) if isinstance(image, str) else None
        if match and match["owner"] not in _IMAGES:
            yield from people.account(match["owner"], words, "base_image of rra.yaml")


def _paper(paper: Paper, words: Words, source: str) -> Iterator[Identifier]:
    for name in paper.authors or ():
        yield from people.person(name, words, source)
    if paper.doi:
        yield Identifier(paper.doi, Kind.PAPER, "10.0000/anonymous", source)
    if paper.arxiv:
        plain = re.sub(r"v\d+$", "", paper.arxiv)
        yield Identifier(plain, Kind.PAPER, "0000.00000", source)
    if paper.url:
        yield from _address(paper.url, words, source)


def _author(entry: Mapping[str, Any], words: Words, source: str) -> Iterator[Identifier]:
    """Yield what a map about a person says; keys as in manifests, packages and citations."""
    family = entry.get("family-names") or entry.get("familyName")
    given = entry.get("given-names") or entry.get("givenName")
    name = entry.get("name") or " ".join(str(part) for part in (given, family) if part)
    if isinstance(name, str) and name:
        yield from people.person(name, words, source)
    for key, value in entry.items():
        if not isinstance(value, str) or not value:
            if key in {"affiliation", "affiliations"} and isinstance(value, list | dict):
                yield from _affiliations(value, words, source)
            continue
        if EMAIL.fullmatch(value.strip()):
            yield from people.email(value.strip(), words, source)
        elif orcid := re.search(r"\d{4}-\d{4}-\d{4}-\d{3}[\dX]", value):
            plain = orcid[0].replace("-", "")
            yield Identifier(orcid[0], Kind.ORCID, _NO_ORCID, source, orders=(plain,))
        elif key in {"affiliation", "affiliations", "institution", "organization", "department"}:
            yield from people.institution(value, words, source)
        elif value.startswith(("http://", "https://")):
            yield from _address(value, words, source)
        elif key in {"github", "gitlab", "alias", "login", "username", "twitter"}:
            yield from people.account(value.lstrip("@"), words, source)


def _affiliations(value: Any, words: Words, source: str) -> Iterator[Identifier]:
    for one in value if isinstance(value, list) else [value]:
        name = one.get("name") if isinstance(one, dict) else one
        if isinstance(name, str):
            yield from people.institution(name, words, source)


def commit(name: str, source: str) -> Identifier:
    """Return the name of a commit, also when it is shortened."""
    shorter = tuple(name[:length] for length in range(_SHORTEST_COMMIT, len(name)))
    return Identifier(name, Kind.ADDRESS, "0" * _SHORTEST_COMMIT, source, orders=shorter)


def repository(text: str, words: Words, source: str) -> Iterator[Identifier]:
    """Yield what the address of a repository identifies: itself, and who owns it."""
    text = text.strip()
    match = FORGE.fullmatch(text)
    if match is None:
        if text.startswith(("/", "file:")):
            yield Identifier(text, Kind.FOLDER, "/anonymous", source)
        return
    owner, name = match["owner"], match["name"]
    yield Identifier(f"{owner}/{name}", Kind.ADDRESS, "anonymous/anonymous", source)
    yield from people.account(owner.lstrip("~"), words, source)


def _address(text: str, words: Words, source: str) -> Iterator[Identifier]:
    plain = re.sub(r"^https?://(?:www\.)?", "", text).rstrip("/")
    if "/" in plain:
        yield Identifier(plain, Kind.ADDRESS, "example.org/anonymous", source)
    if re.match(r"(?:github|gitlab|codeberg|bitbucket|huggingface)\.", plain) and "/" in plain:
        yield from people.account(plain.split("/")[1], words, source)
    elif "/" not in plain and plain:
        yield Identifier(plain, Kind.ADDRESS, "example.org", source)


def _in_file(path: PurePosixPath, text: str, words: Words) -> Iterator[Identifier]:
    """Yield what one file says of people, by what kind of file it is."""
    where = str(path)
    for match in HOME.finditer(text):
        yield from people.account(match["user"].rstrip("."), words, f"a path in {where}")
    if LICENCES.fullmatch(path.name):
        for match in COPYRIGHT.finditer(text):
            yield from holder(match["holder"], words, where)
    read = _DOCUMENTS.get(path.name)
    if read is not None:
        yield from _structured(read(text), words, where)
    elif path.suffix == ".ipynb":
        notebook = _json(text)
        metadata = notebook.get("metadata") if isinstance(notebook, dict) else None
        yield from _structured(metadata, words, where)
    for line in _lines_about_people(path, text):
        yield from who(line, words, where)


def _lines_about_people(path: PurePosixPath, text: str) -> Iterator[str]:
    """Yield what stands behind words such as ``Author:`` in packages, patches and modules."""
    if path.name in _PACKAGE_FILES:
        yield from (match["v"] for match in _SETUP.finditer(text))
        yield from (f"{match[1]} {match[2]}" for match in _R_PERSON.finditer(text))
    if path.suffix in {".patch", ".diff"}:
        plain = text.replace("\n+", "\n").replace("\n-", "\n")
        yield from (match["who"] for match in _PATCH.finditer(plain))
    if path.suffix in {".py", ".ipynb"}:
        yield from (match["a"] or match["b"] for match in _MODULE.finditer(text))


def holder(text: str, words: Words, source: str) -> Iterator[Identifier]:
    """Yield who holds the copyright by a line of a licence."""
    plain = holder_name(text)
    if people.is_nobody(plain):
        return
    if EMAIL.search(plain) or (len(plain.split()) > 1 and not people.CORPORATE.search(plain)):
        yield from who(plain, words, source)
    else:
        yield from people.institution(plain, words, source)


def holder_name(text: str) -> str:
    """Return the holder of a copyright without what else stands in the line."""
    text = re.sub(r"(?i)[.,]?\s*all rights reserved\.?", "", text)
    return re.sub(r"[<(]https?://[^>)]*[>)]", "", text).strip(" .,;")


def who(text: str, words: Words, source: str) -> Iterator[Identifier]:
    """Yield the persons of a line such as ``Agnes Example <agnes@example.com>, Bo Sample``."""
    for address in EMAIL.findall(text):
        yield from people.email(address, words, source)
    plain = EMAIL.sub("", text)
    for part in re.split(r"\s*(?:<[^>]*>|\(\s*\)|,|;|&|\band\b|\[)\s*", plain):
        name = part.strip(" .<>()[]\"'*#")
        if 1 <= len(name.split()) <= 5 and re.match(r"[^\W\d]", name):
            if len(name.split()) > 1:
                yield from people.person(name, words, source)
            elif not people.is_nobody(name):
                yield from people.account(name, words, source)


def _structured(document: Any, words: Words, source: str) -> Iterator[Identifier]:
    """Yield what a document says of people, wherever it says so."""
    if isinstance(document, list):
        for item in document:
            yield from _structured(item, words, source)
    for key, value in document.items() if isinstance(document, dict) else ():
        plain = str(key).lower()
        if plain in _PEOPLE_KEYS:
            yield from _people(value, words, source)
        elif plain in _REPOSITORY_KEYS:
            yield from _home(value.get("url") if isinstance(value, dict) else value, words, source)
        elif plain == "doi" and isinstance(value, str) and _DOI.fullmatch(value):
            yield Identifier(value, Kind.PAPER, "10.0000/anonymous", source)
        elif isinstance(value, dict | list):
            yield from _structured(value, words, source)


def _people(value: Any, words: Words, source: str) -> Iterator[Identifier]:
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, dict):
            yield from _author(one, words, source)
        elif isinstance(one, str):
            yield from who(one, words, source)


def _home(address: Any, words: Words, source: str) -> Iterator[Identifier]:
    if isinstance(address, str) and _FORGES.search(address):
        yield from repository(re.sub(r"^git\+", "", address), words, source)
    elif isinstance(address, str) and re.match(r"https?://", address):
        yield from _address(address, words, source)


def _yaml(text: str) -> Any:
    try:
        return parse_yaml(text, source="CITATION.cff").data
    except FormatError:
        return None


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _toml(text: str) -> Any:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


_DOCUMENTS: dict[str, Callable[[str], Any]] = {
    "CITATION.cff": _yaml,
    **dict.fromkeys(("codemeta.json", ".zenodo.json", "package.json"), _json),
    **dict.fromkeys(("pyproject.toml", "Project.toml", "Cargo.toml"), _toml),
}
