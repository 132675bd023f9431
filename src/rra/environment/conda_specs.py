"""conda's package specifications, translated by the reviewed table of names."""

from __future__ import annotations

import re

from rra.environment.names import CONDA_SYSTEM, distribution_of_conda

_SPEC = re.compile(
    r"^(?:[A-Za-z0-9_./-]+::)?(?P<name>[A-Za-z0-9_.-]+?)\s*(?P<version>[=<>!~,|*\d].*)?$"
)
_SYSTEM_PREFIXES = ("lib", "r-", "xorg-", "cuda-", "nvidia-")
_SPECIFIERS = re.compile(r"(?:(?:[<>]=?|!=|~=|==)[0-9][A-Za-z0-9.]*(?:\.\*)?,?)+")
_EXACT = re.compile(r"^==?\s*([0-9][A-Za-z0-9._]*)(?:=\S+)?$")


def split_spec(spec: str) -> tuple[str, str]:
    """Return (package, version part) of a conda specification, channel and extras dropped."""
    text = re.sub(r"\[.*\]$", "", spec.partition("#")[0].strip())
    match = _SPEC.match(text)
    if match is None:
        return text, ""
    return match["name"].lower(), (match["version"] or "").strip()


def has_build(spec: str) -> bool:
    """Tell whether a specification names a build (``numpy=1.26.4=py311h64a7726_0``)."""
    return re.fullmatch(r"=?=?[^=<>!~,|]+=[^=]*[^=*]", split_spec(spec)[1]) is not None


def read_conda_spec(spec: str) -> tuple[str | None, str]:
    """Translate a conda specification into a requirement (PEP 508).

    Returns:
        The requirement, or None when there is no distribution for it, and a remark. For a
        system package both are empty.
    """
    name, version = split_spec(spec)
    distribution = distribution_of_conda(name)
    if distribution is None and (name in CONDA_SYSTEM or name.startswith(_SYSTEM_PREFIXES)):
        return None, ""
    if distribution is None:
        return None, f"conda package {name} has no reviewed distribution; not rebuilt without conda"
    wanted = translate_version(version)
    if wanted is None:
        return distribution, f"the version {version!r} of {name} cannot be translated; left open"
    return distribution + wanted, ""


def translate_version(version: str) -> str | None:
    """Translate conda's version part into a specifier (PEP 440), or None when that fails.

    ``=1.19`` is fuzzy in conda (``1.19.*``); ``==1.19`` and anything with a build string or
    three parts is exact.
    """
    text = version.replace(" ", "")
    exact = _EXACT.match(text)
    bare = re.fullmatch(r"[0-9][0-9.]*", text)
    wildcard = re.fullmatch(r"=?=?([0-9][0-9.]*?)\.?\*(=\S+)?", text)
    translated: str | None = None
    if text in {"", "*", "=*", "==*"}:
        translated = ""
    elif wildcard is not None:
        translated = f"=={wildcard[1]}.*"
    elif exact is not None or bare is not None:
        number = exact[1] if exact is not None else text
        fuzzy = not text.startswith("==") and text.count("=") < 2 and number.count(".") < 2
        translated = f"=={number}.*" if fuzzy else f"=={number}"
    elif _SPECIFIERS.fullmatch(text):
        translated = text.rstrip(",")
    return translated


def python_of_spec(spec: str) -> str | None:
    """Return the Python (major.minor) that ``python=3.7.3`` and the like name exactly."""
    name, version = split_spec(spec)
    match = re.match(r"^=?=?\s*(\d+\.\d+)", version)
    return match[1] if name == "python" and match else None
