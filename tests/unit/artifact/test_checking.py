"""Documents are checked by stages, and whatever is put in, checking ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from rra._base.resources import schema_names
from rra.artifact.checking import DOCUMENTS, FILES, check_bytes, document_of
from rra.artifact.semantics import CHECKS
from rra.errors import UsageError
from tests.lint.support import MANIFEST

GIGABYTE = 1 << 30
BOUNDED = """\
import resource, runpy, sys
resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))
resource.setrlimit(resource.RLIMIT_CPU, (100, 100))
sys.argv = ["rra", *{arguments!r}]
runpy.run_module("rra", run_name="__main__")
"""


@pytest.mark.clause("conformance/validator-stages")
@pytest.mark.parametrize(
    ("old", "new", "stage", "ok"),
    [
        ("", "", "semantic", True),
        ("version: 1.0.0", "version: 1.0", "schema", False),
        ("version: 1.0.0", "version: 1.0\nversion: 2", "yaml", False),
        ("environment: cpu", "environment: gpu", "semantic", False),
        ("name: wine", "name: [wine", "yaml", False),
    ],
)
def test_the_first_stage_that_finds_a_fault_decides(
    old: str,
    new: str,
    stage: str,
    ok: bool,  # noqa: FBT001
) -> None:
    checked = check_bytes(MANIFEST.replace(old, new, 1).encode(), "manifest", source="rra.yaml")
    assert (checked.stage, checked.ok) == (stage, ok)
    assert (checked.document is None) is (stage == "yaml")


@pytest.mark.clause("conformance/validator-stages", "conformance/validator-all-at-once")
def test_faults_of_a_later_stage_wait_and_those_of_one_come_together() -> None:
    text = MANIFEST.replace("environment: cpu", "environment: gpu")
    broken = text.replace("1.0.0", "1.0").replace('"3.11"', "3.11")
    checked = check_bytes(broken.encode(), "manifest", source="rra.yaml")
    assert [problem.pointer for problem in checked.errors] == [
        "/version",
        "/environments/cpu/python",
    ]


def test_warnings_of_the_schema_stand_beside_faults_of_the_next_stage() -> None:
    text = MANIFEST.replace("environment: cpu", "environment: gpu") + "keyword: [wine]\n"
    checked = check_bytes(text.encode(), "manifest", source="rra.yaml")
    assert {(problem.pointer, problem.severity) for problem in checked.problems} == {
        ("/keyword", "warning"),
        ("/launchers/lda/environment", "error"),
    }


def test_each_document_has_a_schema_checks_and_a_name() -> None:
    assert set(DOCUMENTS) == set(schema_names()) == set(CHECKS) == set(FILES.values())


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("rra.yaml", "manifest"),
        ("wine.rra.yaml", "manifest"),
        ("guide/settings.yaml", "settings"),
        ("rra.lock", "lock"),
        ("evidence/lda/0123456789abcdef/record.json", "execution-record"),
    ],
)
def test_a_document_is_known_by_its_name(name: str, document: str) -> None:
    assert document_of(Path(name)) == document


def test_other_names_are_refused() -> None:
    with pytest.raises(UsageError, match="is not the name of a document"):
        document_of(Path("myrra.yaml"))


def hostile(kind: str) -> bytes:
    laughs = "a0: &a0 [x,x,x,x,x,x,x,x,x]\n"
    for level in range(1, 40):
        laughs += f"a{level}: &a{level} [{','.join([f'*a{level - 1}'] * 9)}]\n"
    return {
        "deep flow": b"[" * 2_000_000,
        "deep maps": b"{a: " * 1_000_000,
        "deep block": "".join(f"{' ' * level}a:\n" for level in range(2000)).encode(),
        "aliases": laughs.encode(),
        "circle": b"a: &a {b: *a}\n",
        "dashes": b"- " * 2_000_000,
        "questions": b"? " * 2_000_000,
        "many keys": "".join(f"key-{number}: {{}}\n" for number in range(60_000)).encode(),
        "long key": b"k" * 4_000_000 + b": 1\n",
        "long text": b"rra: '" + b"1." * 2_000_000 + b"'\n",
        "long number": b"rra: " + b"9" * 4_000_000 + b"\n",
        "nulls": b"\0" * 4_000_000,
        "quotes": b'rra: "' + b"\\u0041" * 600_000,
        "bytes": bytes(range(256)) * 15_000,
    }[kind]


@pytest.mark.slow
@pytest.mark.clause("conformance/validator-is-bounded")
@pytest.mark.parametrize("name", ["rra.yaml", "record.json"])
@pytest.mark.parametrize(
    "kind",
    [
        "deep flow",
        "deep maps",
        "deep block",
        "aliases",
        "circle",
        "dashes",
        "questions",
        "many keys",
        "long key",
        "long text",
        "long number",
        "nulls",
        "quotes",
        "bytes",
    ],
)
def test_whatever_is_put_in_checking_ends(tmp_path: Path, kind: str, name: str) -> None:
    (tmp_path / name).write_bytes(hostile(kind))
    arguments = ["lint", name, "--document", FILES[name], "--json"]
    envelope, code = bounded(tmp_path, arguments)
    assert code in {1, 4}
    problems = envelope["problems"] or envelope["result"]["findings"]
    assert all(problem["clause"] for problem in problems)


@pytest.mark.slow
@pytest.mark.clause("conformance/validator-is-bounded")
def test_a_file_of_200_megabytes_is_refused_by_its_size(tmp_path: Path) -> None:
    line = b"# no end of comments, and no document below them\n" * 20_000
    with (tmp_path / "rra.yaml").open("wb") as stream:
        for _ in range(200):
            stream.write(line)
    for arguments in (
        ["lint", ".", "--json"],
        ["lint", "rra.yaml", "--document", "manifest", "--json"],
    ):
        envelope, code = bounded(tmp_path, arguments)
        assert code == 4
        assert [problem["clause"] for problem in envelope["problems"]] == ["documents/size"]


def bounded(folder: Path, arguments: list[str]) -> tuple[dict[str, Any], int]:
    """Run rra with a gigabyte of memory and 100 seconds of processor time."""
    program = BOUNDED.format(limit=GIGABYTE, arguments=arguments)
    run = subprocess.run(
        [sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode in {0, 1, 2, 3, 4}, run.stderr[-2000:]
    return json.loads(run.stdout), run.returncode
