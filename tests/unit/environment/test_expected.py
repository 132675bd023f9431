"""Digests of an author's own lock, held against what the index has."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from rra import api
from rra.artifact import Artifact
from rra.environment import detect_requirements
from rra.errors import OtherFileError
from tests.unit.environment.toy_index import ToyIndex, make_sdist, make_wheel

ALPHA, BETA = "alpha-1.0-py3-none-any.whl", "beta-1.0-py3-none-any.whl"
WRONG = "a" * 64


def uv(alpha: str, beta: str) -> str:
    wheel = 'wheels = [{{ url = "https://index.example.org/{}", hash = "sha256:{}" }}]\n'
    source = 'source = { registry = "https://index.example.org/simple" }\n'
    return (
        'version = 1\nrequires-python = ">=3.8"\n'
        '[[package]]\nname = "mine"\nversion = "0"\nsource = { virtual = "." }\n'
        'dependencies = [{ name = "alpha" }, { name = "beta" }]\n'
        f'[[package]]\nname = "alpha"\nversion = "1.0"\n{source}{wheel.format(ALPHA, alpha)}'
        f'[[package]]\nname = "beta"\nversion = "1.0"\n{source}{wheel.format(BETA, beta)}'
    )


def poetry(alpha: str, beta: str) -> str:
    entry = (
        '[[package]]\nname = "{}"\nversion = "1.0"\nfiles = [{{file = "x", hash = "sha256:{}"}}]\n'
    )
    return entry.format("alpha", alpha) + entry.format("beta", beta)


def pdm(alpha: str, beta: str) -> str:
    entry = (
        '[[package]]\nname = "{}"\nversion = "1.0"\ngroups = ["default"]\n'
        'files = [{{file = "x", hash = "sha256:{}"}}]\n'
    )
    return entry.format("alpha", alpha) + entry.format("beta", beta)


def pipenv(alpha: str, beta: str) -> str:
    packages = {
        name: {"version": "==1.0", "hashes": [f"sha256:{digest}"]}
        for name, digest in (("alpha", alpha), ("beta", beta))
    }
    return json.dumps({"_meta": {}, "default": packages, "develop": {}})


def pylock(alpha: str, beta: str) -> str:
    entry = (
        '[[packages]]\nname = "{0}"\nversion = "1.0"\n'
        'wheels = [{{name = "{0}.whl", url = "https://x.example.org/w", '
        'hashes = {{sha256 = "{1}"}}}}]\n'
    )
    return (
        'lock-version = "1.0"\ncreated-by = "x"\n'
        + entry.format("alpha", alpha)
        + entry.format("beta", beta)
    )


def requirements(alpha: str, beta: str) -> str:
    return (
        f"alpha==1.0 \\\n    --hash=sha256:{WRONG} \\\n    --hash=sha256:{alpha}\n"
        f"beta==1.0 --hash sha256:{beta.upper()} --hash=md5:900150983cd24fb0d6963f7d28e17f72\n"
    )


FORMS = {
    "uv.lock": uv,
    "poetry.lock": poetry,
    "pdm.lock": pdm,
    "Pipfile.lock": pipenv,
    "pylock.toml": pylock,
    "requirements.txt": requirements,
}


@pytest.mark.parametrize("name", FORMS)
def test_a_file_that_is_not_the_authors_is_an_error_that_names_both(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact], name: str
) -> None:
    artifact('as_of: "2021-01-01"')
    right = (index.sha256(ALPHA), index.sha256(BETA))
    (root / "code" / name).write_text(FORMS[name](*right))
    result = api.lock(root)
    assert result.environments[0].packages == ("alpha 1.0", "beta 1.0")
    assert not any("digest" in note for note in result.notes)
    before = (root / "environment/cpu/pylock.toml").read_bytes()
    (root / "code" / name).write_text(FORMS[name](right[0], "b" * 64))
    with pytest.raises(OtherFileError) as caught:
        api.lock(root)
    assert caught.value.message == (
        f"beta 1.0 is another file than the author had: {name} gives sha256:{'b' * 64}, "
        f"the index has {BETA} with sha256:{right[1]}"
    )
    assert caught.value.exit_code == 3
    assert (root / "environment/cpu/pylock.toml").read_bytes() == before


def test_a_search_ends_at_a_file_that_is_not_the_authors(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    artifact('as_of: "2021-01-01"')
    (root / "code" / "requirements.txt").write_text(f"beta==1.0 --hash=sha256:{WRONG}\n")
    lines: list[str] = []
    with pytest.raises(OtherFileError):
        api.lock(root, search=True, progress=lines.append)
    assert not any(line.startswith("try ") for line in lines)


def test_packages_without_a_digest_are_said(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    artifact('as_of: "2021-01-01"')
    text = f"alpha==1.0 --hash=sha256:{index.sha256(ALPHA)}\n"
    (root / "code" / "requirements.txt").write_text(text)
    notes = api.lock(root).notes
    assert "cpu: requirements.txt gives no digest for beta: what the index has is locked" in notes


def test_files_that_the_lock_does_not_allow_are_left_out(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    """The source distribution is the author's; the wheel came to the index from elsewhere."""
    sdist = make_sdist("gamma", "1.0")
    index.add("gamma", "gamma-1.0.tar.gz", sdist, "2020-01-01")
    other = make_wheel("gamma", "1.0", body="EVIL = True\n")
    index.add("gamma", "gamma-1.0-py3-none-any.whl", other, "2020-01-02")
    artifact('as_of: "2021-01-01"')
    text = f"gamma==1.0 --hash=sha256:{index.sha256('gamma-1.0.tar.gz')}\n"
    (root / "code" / "requirements.txt").write_text(text)
    api.lock(root)
    built = root / "environment/cpu/wheels/gamma-1.0-py3-none-any.whl"
    assert built.read_bytes() == make_wheel("gamma", "1.0")
    assert "EVIL" not in built.read_bytes().decode("latin-1")


def test_b18_a_digest_in_the_address_and_beside_it_is_one(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    digest = index.sha256(BETA)
    address = index.url.replace("/simple", f"/files/{BETA}#sha256={digest}")
    wanted = f"beta @ {address} --hash=sha256:{digest}\n{address} --hash=sha256:{digest}\n"
    (root / "code" / "requirements.txt").write_text(wanted)
    assert detect_requirements(root / "code", []).digests == {"beta": (digest,)}
    artifact()
    api.lock(root)
    lock = (root / "environment/cpu/pylock.toml").read_text()
    assert lock.count(digest) == 1
    plain = (root / "environment/cpu/requirements.txt").read_text()
    assert plain.count("--hash=") == plain.count(f"--hash=sha256:{digest}") == 1
    assert "None" not in lock + plain


def test_b18_where_an_index_gives_no_digest_the_files_own_is_locked(
    index: ToyIndex, root: Path, artifact: Callable[..., Artifact]
) -> None:
    index.unhashed.add(BETA)
    (root / "code" / "requirements.txt").write_text("beta==1.0\n")
    artifact()
    api.lock(root)
    lock = (root / "environment/cpu/pylock.toml").read_text()
    assert lock.count(f'sha256 = "{index.sha256(BETA)}"') == 1
    assert "None" not in lock + (root / "environment/cpu/requirements.txt").read_text()
