from __future__ import annotations

import subprocess
from pathlib import Path, PurePosixPath

import pytest

from rra.artifact import load_artifact, read_document
from rra.errors import FormatError, NotAnArtifactError, UsageError
from rra.model import ReferencesDocument

MANIFEST = """\
# the author's comment
rra: "1.0"
name: wine
version: 1.0.0
license: MIT
x-lab: {room: 3}
code: {root: ".", exclude: ["paper/*"]}
environments: {cpu: {kind: pylock, python: "3.11", lock: environment/cpu/pylock.toml}}
data: {table: {path: data/wine.csv}}
launchers:
  lda: {entry: launchers/lda.sh, environment: cpu, inputs: [table], outputs: [metrics.json]}
experiments:
  table1:
    outcomes:
      lda: {type: number, reported: "98.90", unit: percent,
        selector: {launcher: lda, file: metrics.json, json: /lda, unit: fraction}}
      qda: {type: number, reported: "99.4", unit: percent,
        selector: {launcher: lda, file: metrics.json, json: /qda, unit: fraction}}
  table2:
    outcomes:
      lda: {type: number, reported: "1",
        selector: {launcher: lda, file: a.csv, regex: "(?P<value>.)"}}
"""


def write(root: Path, text: str = MANIFEST) -> Path:
    (root / "rra.yaml").write_text(text)
    return root


def test_decimals_of_the_reported_value_survive(tmp_path: Path) -> None:
    artifact = load_artifact(write(tmp_path))
    assert artifact.outcome("qda")[0] == "table1/qda"
    assert artifact.outcome("table1/lda")[1].reported == "98.90"
    assert artifact.manifest.to_json()["x-lab"] == {"room": 3}
    assert artifact.warnings == ()


def test_an_ambiguous_or_unknown_outcome_names_the_candidates(tmp_path: Path) -> None:
    artifact = load_artifact(write(tmp_path))
    with pytest.raises(UsageError, match="lda names several outcomes: table1/lda, table2/lda"):
        artifact.outcome("lda")
    with pytest.raises(UsageError) as caught:
        artifact.outcome("table1/qd")
    assert "table1/qda" in caught.value.hint


@pytest.mark.clause("manifest/file")
def test_a_directory_without_manifest_is_no_artifact(tmp_path: Path) -> None:
    with pytest.raises(NotAnArtifactError, match=r"holds no rra\.yaml") as caught:
        load_artifact(tmp_path)
    assert caught.value.exit_code == 2
    assert caught.value.hint == f"make one with: rra init {tmp_path}"
    with pytest.raises(NotAnArtifactError, match="no such directory"):
        load_artifact(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("named", "verb"),
    [
        ("oci-layout:bundle:1.0.0", "unpack"),
        ("oci-archive:../study.tar", "unpack"),
        ("localhost:5000/lab/study:1.0.0", "pull"),
        ("localhost/lab/study:1.0.0", "pull"),
        ("registry.example.org/lab/study@sha256:" + "0" * 64, "pull"),
        ("https://example.org/study.tar#sha256:" + "0" * 64, "pull"),
        ("studies/wine", ""),
        ("studies.old/wine", ""),
    ],
)
def test_a_bundle_where_a_directory_is_needed_is_called_one(named: str, verb: str) -> None:
    with pytest.raises(NotAnArtifactError) as caught:
        load_artifact(Path(named))
    if verb:
        assert caught.value.message == (
            f"{named} is a bundle, and this needs the directory of an artifact"
        )
        assert caught.value.hint == f"make one of it first: rra {verb} {named} DIRECTORY"
    else:
        assert caught.value.message == f"no such directory: {named}"


def test_links_inside_the_manifest_are_checked_all_at_once(tmp_path: Path) -> None:
    text = MANIFEST.replace("environment: cpu", "environment: cpuu", 1)
    text = text.replace("inputs: [table]", "inputs: [tabel]")
    with pytest.raises(FormatError) as caught:
        load_artifact(write(tmp_path, text))
    assert [(p.line, p.message, p.hint) for p in caught.value.problems] == [
        (11, "no environment is called 'cpuu'", "did you mean cpu?"),
        (11, "no data item is called 'tabel'", "did you mean table?"),
    ]


def test_unknown_key_is_kept_and_warned(tmp_path: Path) -> None:
    artifact = load_artifact(write(tmp_path, MANIFEST + "descripton: hello\n"))
    (warning,) = artifact.warnings
    assert str(warning).startswith("rra.yaml:23:1: unknown key 'descripton', nearest known key")
    assert artifact.manifest.to_json()["descripton"] == "hello"


def test_code_in_place_is_what_no_other_element_owns(tmp_path: Path) -> None:
    write(tmp_path)
    for name, content in {
        "train.py": "x",
        "src/model.py": "y",
        "data/wine.csv": "1",
        "data/other.csv": "2",
        "__pycache__/train.pyc": "z",
        ".venv/bin/python": "z",
        "AGENTS.md": "hello",
        "paper/notes": "x",
        "guide/GUIDE.md": "x",
        "evidence/lda/x": "x",
        "outputs/lda/y": "x",
        "launchers/lda.sh": "x",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    artifact = load_artifact(tmp_path)
    files = {str(p) for p in artifact.code_files()}
    assert {"train.py", "src/model.py", "data/other.csv"} <= files
    assert not {f for f in files if f.startswith((".venv", "__pycache__", "guide", "evidence"))}
    assert not {"data/wine.csv", "AGENTS.md", "rra.yaml", "paper/notes"} & files
    assert artifact.element_files("data") == (PurePosixPath("data/wine.csv"),)


def test_references_are_read_with_their_schema(tmp_path: Path) -> None:
    path = tmp_path / "references.yaml"
    path.write_text('table1/lda: {scores: [{value: "98.876"}, {value: 1}, {value: "1"}]}\n')
    with pytest.raises(FormatError) as caught:
        read_document(path, "references", ReferencesDocument)
    assert caught.value.problems[0].place == f"{path}:1:43"
    score = '{value: "98.876", seed: 3}'
    path.write_text(f"table1/lda: {{scores: [{score}, {score}, {score}]}}\n")
    document = read_document(path, "references", ReferencesDocument)
    assert document.root["table1/lda"].scores[0].value == "98.876"


@pytest.mark.parametrize("content", [b"\xff\xfe\x00r", b'rra: "1.0"\nname: \xe9\n'])
def test_a_manifest_that_is_not_utf_8_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "rra.yaml").write_bytes(content)
    with pytest.raises(FormatError, match="not UTF-8"):
        load_artifact(tmp_path)


def test_what_is_code_does_not_depend_on_git(tmp_path: Path) -> None:
    text = MANIFEST.replace('exclude: ["paper/*"]', 'exclude: ["paper/*", "!.venv/kept.py"]')
    write(tmp_path, text)
    for name in ("a.py", ".venv/kept.py", ".venv/other.py", "paper/x"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    before = load_artifact(tmp_path).code_files()
    assert before == (PurePosixPath(".venv/kept.py"), PurePosixPath("a.py"))
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "-f", ".venv"], cwd=tmp_path, check=True)
    assert load_artifact(tmp_path).code_files() == before


@pytest.mark.parametrize(
    ("text", "says"), [("", "the file is empty"), ("# soon\n", "the file has only comments")]
)
def test_an_empty_manifest_is_called_empty(tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "rra.yaml").write_text(text)
    with pytest.raises(FormatError) as caught:
        load_artifact(tmp_path)
    (problem,) = caught.value.problems
    assert str(problem) == f"rra.yaml:1:1: {says} [documents/not-empty]"


def test_a_file_in_the_place_of_the_directory_is_called_a_file(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(NotAnArtifactError, match=r"notes\.txt is a file$") as caught:
        load_artifact(tmp_path / "notes.txt")
    assert caught.value.hint == "give the directory that holds rra.yaml"
