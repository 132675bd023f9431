"""An anonymous bundle names nobody, is whole, and says the same; the artifact stays as it is."""

from __future__ import annotations

import base64
import dataclasses
import gzip
import io
import json
import os
import socket
import stat
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rra import api
from rra.api._anonymous import Anonymity
from rra.artifact import load_artifact
from rra.bundle.layout import LayoutStore
from rra.bundle.reader import read_bundle
from rra.errors import CorruptError, UsageError
from rra.evidence import EvidenceStore, verify_record
from tests.support.artifacts import COMPUTES, record_run
from tests.support.bundles import locked_artifact, tree, unpack

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rra.api._pack import PackReport
    from rra.errors import Problem

AUTHORS = [{"name": "Käthe Müßiggang", "orcid": "0000-0002-1825-0097", "affiliation": "Uni Xanten"}]
NAME = "Käthe Müßiggang"
FAMILY = "Müßiggang"


def artifact(root: Path, files: Mapping[str, str | bytes] | None = None, **more: Any) -> Path:
    return locked_artifact(root / "study", files, **{"authors": AUTHORS, **more}).root


def pack(
    root: Path, place: Path, *, also: tuple[str, ...] = (), keep: tuple[str, ...] = ()
) -> PackReport:
    wanted = Anonymity(also=also, keep=keep)
    return api.pack(root, f"oci-layout:{place}", anonymous=wanted)


def found(report: PackReport) -> list[tuple[str, int | None]]:
    """Return the places that stop a packing."""
    assert report.packed is None
    assert report.exit_code == 1
    return [(one.path, one.line) for one in report.problems if one.severity == "error"]


def everything(place: Path) -> bytes:
    """Return all that an anonymous bundle says: manifest, config, names and files."""
    store = LayoutStore(place)
    bundle = read_bundle(store)
    unpack(place, place.parent / "unpacked")
    manifest, _ = store.get_manifest(None)
    files = tree(place.parent / "unpacked")
    parts = [manifest, bundle.config.to_bytes()]
    parts += [part for name, (_, data) in files.items() for part in (name.encode(), data)]
    return b"\n".join(parts)


@pytest.mark.clause("privacy/anonymous-original", "privacy/anonymous-mark")
def test_nothing_that_identifies_is_left(tmp_path: Path) -> None:
    root = artifact(
        tmp_path,
        {
            "README.md": f"# Study\n\nBy {NAME}, Uni Xanten, see github.com/kmues/study.\n",
            "guide/GUIDE.md": f"# Guide\n\nAsk {FAMILY}, mail kaethe@uni-xanten.example.\n",
            "code/AUTHORS": f"{NAME}\nZoe Other\n",
            "code/CITATION.cff": f"cff-version: 1.2.0\nauthors: [{{name: {NAME}}}]\n",
            "main.py": f"# {NAME} <kaethe@uni-xanten.example>, /home/kmues/study\n{COMPUTES}",
        },
        title="A study",
        description=f"A study by {FAMILY}.",
        source={"repository": "https://github.com/kmues/study", "commit": "4b825dc642cb6eb9a060"},
        paper={
            "title": "On studies",
            "authors": [NAME, "Zoe Other"],
            "year": 2026,
            "doi": "10.1234/abc.567",
            "arxiv": "2601.01234",
        },
    )
    before = tree(root)
    report = pack(root, tmp_path / "out", also=("kaethe",))
    assert report.packed is not None, report.problems
    whole = everything(tmp_path / "out").decode("utf-8", "replace").lower()
    gone = ("müßiggang", "käthe", "kaethe", "xanten", "kmues", "1825-0097", "10.1234", "2601.01234")
    assert [text for text in (*gone, "4b825dc", "zoe", "other") if text in whole] == []
    assert "on studies" in whole
    assert tree(root) == before
    assert load_artifact(tmp_path / "unpacked").document.data["x-anonymous"] is True


def test_a_core_that_stays_is_told(tmp_path: Path) -> None:
    told = pack(artifact(tmp_path / "a"), tmp_path / "one").anonymous
    root = artifact(tmp_path / "b", {"main.py": f"# {NAME}\n{COMPUTES}"})
    silent = pack(root, tmp_path / "two").anonymous
    assert told is not None
    assert silent is not None
    assert [note for note in told.notes if "the core is that of the artifact" in note]
    assert silent.notes == ()


@pytest.mark.clause("privacy/anonymous-annotations")
def test_the_manifest_of_the_bundle_has_no_source_and_no_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    root = artifact(tmp_path, source={"repository": "https://github.com/kmues/study"})
    pack(root, tmp_path / "out")
    manifest, _ = LayoutStore(tmp_path / "out").get_manifest(None)
    named = {key.rpartition(".")[2] for key in json.loads(manifest)["annotations"]}
    assert named == {"title", "version", "licenses", "core", "format", "name"}


def test_the_mapping_is_private_and_lies_outside(tmp_path: Path) -> None:
    root = artifact(tmp_path)
    report = pack(root, tmp_path / "out")
    assert report.anonymous is not None
    assert report.packed is not None
    place = tmp_path / "out.private.json"
    assert report.anonymous.mapping == place
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    mapping = json.loads(place.read_bytes())
    lock = load_artifact(root).lock
    assert lock is not None
    assert mapping["original"]["core"] == lock.core
    assert mapping["anonymous"]["core"] == report.packed.config.core
    assert mapping["anonymous"]["digest"] == report.packed.descriptor.digest
    assert {"text": NAME, "by": "Anon1"}.items() <= {
        key: value
        for one in mapping["replaced"]
        if one["kind"] == "person"
        for key, value in one.items()
    }.items()
    assert NAME.encode() not in everything(tmp_path / "out")


def test_no_mapping_takes_the_place_of_that_of_another_bundle(tmp_path: Path) -> None:
    root = artifact(tmp_path, {"README.md": "# Study\n\nMade at Zanzibar.\n"})
    first, again = (pack(root, tmp_path / "out").anonymous for _ in range(2))
    other = pack(root, tmp_path / "out", also=("Zanzibar",))
    assert first is not None
    assert again is not None
    assert other.anonymous is not None
    assert other.packed is not None
    digest = other.packed.descriptor.digest.removeprefix("sha256:")
    assert first.mapping == again.mapping == tmp_path / "out.private.json"
    assert other.anonymous.mapping == tmp_path / f"out-{digest[:12]}.private.json"
    texts = [json.loads(one.read_bytes())["options"]["also"] for one in tmp_path.glob("out*.json")]
    assert sorted(texts) == [[], ["Zanzibar"]]


def test_the_mapping_is_refused_inside_of_what_is_shared(tmp_path: Path) -> None:
    root = artifact(tmp_path)
    wanted = Anonymity(mapping=root / "private.json")
    with pytest.raises(UsageError, match="private mapping"):
        api.pack(root, f"oci-layout:{tmp_path / 'out'}", anonymous=wanted)
    assert not (tmp_path / "out").exists()


@pytest.mark.clause("privacy/anonymous-is-whole")
def test_records_stay_whole_and_what_names_them_follows(tmp_path: Path) -> None:
    code = (
        f"# by {NAME}\n{COMPUTES}print('ran by {FAMILY.lower()}', file=__import__('sys').stderr)\n"
    )
    code = code.replace(FAMILY.lower(), "' + 'Müßi' + 'ggang")  # it prints what it does not hold
    root = artifact(tmp_path, {"main.py": code})
    made = record_run(load_artifact(root))
    (root / "guide" / "GUIDE.md").write_text(f"# Guide\n\nThe run {made.record_digest}.\n")
    (root / "outputs").rename(tmp_path / "away")
    api.lock(root, keep=True)
    report = pack(root, tmp_path / "out")
    assert report.packed is not None, report.problems
    unpack(tmp_path / "out", tmp_path / "copy")
    (stored,) = EvidenceStore(tmp_path / "copy" / "evidence").records()
    assert verify_record(stored) == []
    assert stored.digest != made.record_digest
    assert stored.digest in (tmp_path / "copy" / "guide" / "GUIDE.md").read_text()
    assert stored.record.core == report.packed.config.core
    assert (stored.directory / "stderr.txt").read_text() == "ran by Anon1\n"
    values = [one for one in stored.record.inputs if one.path == "code/main.py"]
    assert values[0].size == (tmp_path / "copy" / "code" / "main.py").stat().st_size


def test_addresses_of_the_network_and_the_build_of_a_kernel_are_blanked(tmp_path: Path) -> None:
    root = artifact(tmp_path)
    record_run(load_artifact(root))
    (root / "outputs").rename(tmp_path / "away")
    store = EvidenceStore(root / "evidence")
    (stored,) = store.records()
    document = stored.record.to_json()
    document["network_attempts"] = ["10.11.12.13:53", "127.0.0.1:80", "10.11.12.13:80"]
    document["platform"]["kernel"] = "Linux 6.1.0-xanten-cluster"
    record = dataclasses.replace(stored).record.model_validate(document)
    stage = root / "evidence" / "stage"
    stored.directory.rename(stage)
    (stage / "record.json").unlink()
    store.add(stage, record)
    report = pack(root, tmp_path / "out")
    assert report.packed is not None, report.problems
    unpack(tmp_path / "out", tmp_path / "copy")
    (after,) = EvidenceStore(tmp_path / "copy" / "evidence").records()
    assert after.record.network_attempts == ["address1:53", "127.0.0.1:80", "address1:80"]
    assert after.record.platform.kernel == "Linux 6.1.0"


# ---------------------------------------------------------------- what stops a packing


def png(kind: bytes, body: bytes) -> bytes:
    def chunk(name: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        )

    head = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    pixels = zlib.compress(b"\0\0")
    start = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head)
    return start + chunk(kind, body) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def npz() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, muessiggang_weights=np.arange(3))
    return stream.getvalue()


def zipped(content: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("notes.txt", content)
    return stream.getvalue()


def notebook(picture: bytes) -> str:
    output = {
        "output_type": "display_data",
        "data": {"image/png": base64.b64encode(picture).decode()},
    }
    cell = {"cell_type": "code", "source": ["1 + 1\n"], "outputs": [output], "metadata": {}}
    document = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps({**document, "pad": "x" * 400}, indent=1)


SAID = f"\nseen by {NAME}\n".encode()


@pytest.mark.parametrize(
    ("path", "content", "place"),
    [
        ("figure.png", png(b"tEXt", b"Author\0Kaethe Muessiggang"), "code/figure.png"),
        ("figure.png", png(b"zTXt", b"Author\0\0" + zlib.compress(SAID)), "code/figure.png!zTXt"),
        ("pre.npz", npz(), "code/pre.npz"),
        ("log.gz", gzip.compress(SAID, mtime=0), "code/log.gz!gzip"),
        ("more.zip", zipped(SAID), "code/more.zip!notes.txt"),
        ("nested.zip", zipped(gzip.compress(SAID, mtime=0)), "code/nested.zip!notes.txt!gzip"),
        ("wide.bin", b"\0" + NAME.encode("utf-16-le"), "code/wide.bin"),
        ("b64.txt", base64.b64encode(SAID), "code/b64.txt"),
        ("hex.txt", NAME.encode().hex().encode(), "code/hex.txt"),
        ("model.bin", b"\0\1\2" + NAME.encode(), "code/model.bin"),
    ],
    ids=["png", "png-packed", "npz", "gzip", "zip", "nested", "utf-16", "base64", "hex", "binary"],
)
def test_what_cannot_be_rewritten_stops_the_packing(
    tmp_path: Path, path: str, content: bytes, place: str
) -> None:
    root = artifact(tmp_path, {path: content})
    report = pack(root, tmp_path / "out")
    assert place in [path for path, _ in found(report)]
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.private.json").exists()


def test_a_name_in_a_picture_inside_of_a_notebook_stops_the_packing(tmp_path: Path) -> None:
    picture = png(b"zTXt", b"Author\0\0" + zlib.compress(SAID * 200))
    root = artifact(tmp_path, {"explore.ipynb": notebook(picture + b"\0" * 400)})
    (place, *_) = found(pack(root, tmp_path / "out"))
    assert place[0].startswith("code/explore.ipynb!base64 1")
    assert place[0].endswith("!zTXt")


@pytest.mark.parametrize("name", ["muessiggang.py", "kaethe-muessiggang/a.py", "x_Müßiggang.csv"])
@pytest.mark.clause("privacy/anonymous-search")
def test_names_of_files_count(tmp_path: Path, name: str) -> None:
    root = artifact(tmp_path, {name: "1\n"})
    assert found(pack(root, tmp_path / "out"))[0][0].startswith("code/")


@pytest.mark.clause("privacy/anonymous-copy")
def test_a_string_of_code_is_reported_with_its_line(tmp_path: Path) -> None:
    root = artifact(tmp_path, {"main.py": f"# {NAME}\nwho = '{NAME}'\n{COMPUTES}"})
    assert found(pack(root, tmp_path / "out")) == [("code/main.py", 2)]


def test_a_path_in_a_conda_lock_is_reported(tmp_path: Path) -> None:
    lock = "version: 1\n# made in /home/kmues\npackage:\n- url: file:///home/kmues/pkgs/x.conda\n"
    root = artifact(tmp_path, {"environment/gpu/conda-lock.yml": lock})
    assert found(pack(root, tmp_path / "out")) == [("environment/gpu/conda-lock.yml", 4)]


def test_headers_of_patches_name_people_who_are_then_looked_for(tmp_path: Path) -> None:
    mail = "From: Zoe Quirk <zoe.quirk@lab-y.example>\nSubject: [PATCH] x\n\n---\n"
    root = artifact(tmp_path, {"old.patch": mail, "main.py": f"who = 'Quirk'\n{COMPUTES}"})
    assert found(pack(root, tmp_path / "out")) == [("code/main.py", 1)]


def test_a_key_of_the_manifest_that_a_run_needs_is_reported(tmp_path: Path) -> None:
    root = artifact(tmp_path, name="muessiggang-study")
    ((path, line),) = {(path, line) for path, line in found(pack(root, tmp_path / "out"))}
    assert path == "rra.yaml"
    assert line is not None


def test_the_user_and_the_host_of_this_machine_are_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.node", lambda: "gpu-17.cluster.lab-y.example")
    root = artifact(tmp_path, {"guide/GUIDE.md": "# Guide\n\nWe ran it on GPU-17, in a night.\n"})
    report = pack(root, tmp_path / "out")
    assert found(report) == [("guide/GUIDE.md", 3)]
    assert "--also 'gpu-17'" in report.problems[0].hint
    assert pack(root, tmp_path / "out", also=("gpu-17",)).ok


def test_the_history_of_git_is_looked_for_and_never_replaced(tmp_path: Path) -> None:
    root = artifact(tmp_path, {"README.md": "# Study\n\nBy Barova.\n"})
    who = ("-c", "user.name=Foo Barova", "-c", "user.email=foo@inst-z.example")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "x")):
        subprocess.run(["git", *who, *command], cwd=root, check=True)
    report = pack(root, tmp_path / "out")
    assert found(report) == [("README.md", 3)]
    assert "history of git" in report.problems[0].message
    assert pack(root, tmp_path / "out", also=("Barova",)).ok


@pytest.mark.parametrize(
    ("name", "address", "stops"),
    [
        ("GitHub", "noreply@github.com", False),
        ("dependabot[bot]", "49699333+dependabot[bot]@users.noreply.github.com", False),
        ("GitHub", "17+zoe@users.noreply.github.com", True),
    ],
)
def test_a_hosting_service_that_commits_is_no_person(
    tmp_path: Path, name: str, address: str, *, stops: bool
) -> None:
    root = artifact(tmp_path, {"README.md": "# Study\n\nFound on GitHub, kept by dependabot.\n"})
    who = ("-c", f"user.name={name}", "-c", f"user.email={address}")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "x")):
        subprocess.run(["git", *who, *command], cwd=root, check=True)
    report = pack(root, tmp_path / "out")
    assert report.ok is not stops
    if stops:
        assert found(report) == [("README.md", 3)]


def test_a_text_that_identifies_nobody_is_kept_when_told(tmp_path: Path) -> None:
    root = artifact(tmp_path, {"main.py": f"who = '{FAMILY}'\n{COMPUTES}"})
    assert not pack(root, tmp_path / "out").ok
    assert pack(root, tmp_path / "out", keep=(FAMILY,)).ok


def test_a_given_name_alone_is_told_and_does_not_stop(tmp_path: Path) -> None:
    root = artifact(tmp_path, {"README.md": "# Study\n\nAsk Käthe.\n"})
    report = pack(root, tmp_path / "out")
    assert report.ok
    (warning,) = [one for one in report.problems if "given name" in one.message]
    assert (warning.path, warning.line, warning.severity) == ("README.md", 3, "warning")


@pytest.mark.clause("privacy/anonymous-unsearched")
def test_what_cannot_be_searched_is_named(tmp_path: Path) -> None:
    locked = bytearray(zipped(b"nothing of interest"))
    locked[6] |= 1  # says that it is encrypted
    locked[locked.find(b"PK\x01\x02") + 8] |= 1
    files = {"a.zip": bytes(locked), "noise.bin": os.urandom(9000), "p.png": png(b"tEXt", b"a\0b")}
    report = pack(artifact(tmp_path, files), tmp_path / "out")
    assert report.anonymous is not None
    why = dict(report.anonymous.unsearched)
    assert "cannot be opened" in why["code/a.zip"]
    assert "looks compressed" in why["code/noise.bin"]
    assert "not what is drawn" in why["code/p.png"]


def test_an_address_of_whom_nothing_is_known_is_told(tmp_path: Path) -> None:
    root = artifact(
        tmp_path, {"README.md": "# Study\n\nThanks to zoe@lab-y.de and git@forge.io.\n"}
    )
    report = pack(root, tmp_path / "out")
    assert report.ok
    assert [one.message.split()[0] for one in report.problems] == ["zoe@lab-y.de"]


def test_what_changes_while_it_is_packed_stops_it(tmp_path: Path) -> None:
    root = artifact(tmp_path)

    def meddle(line: str) -> None:
        if line.startswith("collecting"):
            (root / "code" / "main.py").write_text("print(1)\n")

    with pytest.raises(CorruptError, match="code has changed"):
        api.pack(root, f"oci-layout:{tmp_path / 'out'}", anonymous=Anonymity(), progress=meddle)
    assert not (tmp_path / "out").exists()


def test_a_paper_by_others_stays_named_when_told(tmp_path: Path) -> None:
    paper = {"title": "On studies", "authors": ["Zoe Quirk"], "doi": "10.1234/abc.567"}
    root = artifact(tmp_path, {"README.md": f"After Quirk, by {FAMILY}.\n"}, paper=paper)
    wanted = Anonymity(keep_paper=True)
    api.pack(root, f"oci-layout:{tmp_path / 'out'}", anonymous=wanted)
    unpack(tmp_path / "out", tmp_path / "copy")
    manifest = load_artifact(tmp_path / "copy").manifest
    assert manifest.paper is not None
    assert manifest.paper.to_json() == paper
    assert manifest.authors is None
    assert (tmp_path / "copy" / "README.md").read_text() == "After Quirk, by Anon1.\n"


# ---------------------------------------------------------------- always the same


def test_it_can_be_checked_by_packing_twice(tmp_path: Path) -> None:
    root = artifact(tmp_path)
    report = api.pack(root, f"oci-layout:{tmp_path / 'out'}", check=True, anonymous=Anonymity())
    assert (report.ok, report.checked) == (True, True)


@pytest.mark.clause("privacy/anonymous-copy")
def test_a_selected_value_never_changes(tmp_path: Path) -> None:
    # The pattern does not fit the neutral word: the copy would give no value.
    selector = {"launcher": "main", "file": "metrics.json"}
    selector["regex"] = "^[a-z]+: (?P<value>[0-9.]+)$"
    outcome = {"type": "number", "reported": "98.9", "selector": selector}
    code = "right = sum(1 for n in range(89) if n != 7)\n"
    code += "print('mues' + 'siggang: ' + str(100 * right / 89))\n"
    root = artifact(
        tmp_path, {"main.py": code}, experiments={"table": {"outcomes": {"accuracy": outcome}}}
    )
    record_run(load_artifact(root))
    (root / "outputs").rename(tmp_path / "away")
    report = pack(root, tmp_path / "out")
    assert any("the evidence gives no value when blanked" in one.message for one in errors(report))


def errors(report: PackReport) -> list[Problem]:
    return [one for one in report.problems if one.severity == "error"]


@pytest.mark.clause("privacy/anonymous-anywhere")
def test_another_machine_and_user_make_the_same_bundle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = artifact(tmp_path, {"README.md": f"By {NAME}, in /home/kmues.\n"})
    first = pack(root, tmp_path / "one")
    other = tmp_path / "elsewhere" / "deep"
    other.mkdir(parents=True)
    subprocess.run(["cp", "-r", root, other / "copy"], check=True)
    monkeypatch.setattr("platform.node", lambda: "another-host")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "elsewhere"))
    second = pack(other / "copy", tmp_path / "two")
    assert first.packed is not None
    assert second.packed is not None
    assert first.packed.descriptor == second.packed.descriptor
    assert socket.gethostname() not in json.dumps(first.packed.config.to_json())


def test_the_command_says_what_was_done_and_where_the_secret_lies(tmp_path: Path) -> None:
    root = artifact(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "rra", "pack", root, f"oci-archive:{tmp_path}/x.tar", "--anonymous"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"PRIVATE {tmp_path}/x.tar.private.json" in done.stdout
    for option in ("--also=x", "--keep=x", "--keep-paper", "--mapping=x"):
        done = subprocess.run(
            [sys.executable, "-m", "rra", "pack", root, f"oci-layout:{tmp_path}/y", option],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 2
        assert "needs --anonymous" in done.stderr


@pytest.mark.parametrize("text", ["", " ", "·", "--"])
@pytest.mark.parametrize("option", ["also", "keep"])
def test_a_text_that_every_file_holds_is_refused(option: str, text: str) -> None:
    with pytest.raises(UsageError, match=f"--{option} names no text"):
        Anonymity(**{option: ("Käthe", text)})  # type: ignore[arg-type]
