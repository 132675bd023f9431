"""Data that an artifact does not bring: fetched before a run, whole and by digest, or not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rra import api
from rra._base import canonical
from rra._base.files import STAGING_PREFIX
from rra.artifact import Artifact, load_artifact
from rra.bundle.lock_state import changes_since_lock
from rra.errors import CorruptError, UnavailableError
from rra.launch import fetch, fetch_data
from rra.registry import Policy
from tests.support.http_registry import HttpRegistry, Reply, Seen, http_registry, sha256
from tests.support.runs import write_artifact
from tests.unit.registry.test_download import FILE, PATH, Web, web_of

COUNTS = """wc -c < "$RRA_DATA_DIR/x.csv" > "$RRA_OUTPUT_DIR/metrics.json"\n"""
QUICK = Policy(connect_seconds=5, idle_seconds=5, sleep=lambda _: None)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RRA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("RRA_OFFLINE", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def server() -> Iterator[HttpRegistry]:
    with http_registry() as found:
        yield found


@pytest.fixture
def web(server: HttpRegistry) -> Web:
    return web_of(server)


def artifact(root: Path, *sources: dict[str, str], data: bytes | None = FILE, **item: Any) -> Path:
    """Write an artifact with one data item; `data` is what its lock says, None for no lock."""
    declared = {"path": "data/x.csv", "access": "fetch", "sources": list(sources), **item}
    launchers = {"main": {"outputs": ["metrics.json"], "inputs": ["x"]}}
    write_artifact(root, {"launchers/main.sh": COUNTS}, launchers=launchers, data={"x": declared})
    if data is not None:
        api.lock(root, keep=True)
        lock = load_artifact(root).lock
        assert lock is not None
        plain = {**lock.to_json(), "data": {"x": {"sha256": sha256(data), "size": len(data)}}}
        (root / "rra.lock").write_bytes(canonical.dumps(plain) + b"\n")
    return root


def unreachable(root: Path, **more: Any) -> Path:
    """Write an artifact whose data comes from where nobody answers, which locking passes over."""
    return artifact(root, {"url": "http://127.0.0.1:9/x.csv"}, **more)


def get(root: Path, lines: list[str] | None = None) -> list[fetch.FetchedItem]:
    said = lines.append if lines is not None else lambda _: None
    return fetch_data(load_artifact(root), ["main"], progress=said, policy=QUICK)


def sourced(root: Path, *sources: dict[str, str]) -> Artifact:
    """Replace the sources of an artifact whose lock is written."""
    import json

    manifest = json.loads((root / "rra.yaml").read_text())
    manifest["data"]["x"]["sources"] = list(sources)
    (root / "rra.yaml").write_text(json.dumps(manifest))
    return load_artifact(root)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An artifact whose lock names the data, which is not here."""
    monkeypatch.setenv("RRA_OFFLINE", "1")
    root = unreachable(tmp_path / "a")
    monkeypatch.delenv("RRA_OFFLINE")
    return root


@pytest.mark.clause("data/digest-decides")
def test_what_is_fetched_is_there_whole_and_not_fetched_again(place: Path, web: Web) -> None:
    lines: list[str] = []
    sourced(place, {"url": web.url})
    (got,) = get(place, lines)
    assert (got.id, got.source, got.sha256, got.size) == ("x", web.url, sha256(FILE), len(FILE))
    assert (place / "data/x.csv").read_bytes() == FILE
    assert lines[0] == f"fetching data/x.csv from {web.url}"
    assert get(place) == []
    assert len(web.server.seen) == 1


def test_rra_run_fetches_before_it_runs(place: Path, web: Web) -> None:
    sourced(place, {"url": web.url})
    done = api.run(place, sandbox="none")
    assert [run.ok for run in done.runs] == [True]
    assert (place / "outputs/main/metrics.json").read_text().strip() == str(len(FILE))


def test_a_dry_run_fetches_nothing(place: Path, web: Web) -> None:
    sourced(place, {"url": web.url})
    api.run(place, sandbox="none", dry_run=True)
    assert web.server.seen == []


def test_a_connection_that_breaks_is_taken_up_where_it_broke(place: Path, web: Web) -> None:
    sourced(place, {"url": web.url})
    web.breaks = [1 << 20, 1000]
    get(place)
    assert (place / "data/x.csv").read_bytes() == FILE
    ranges = [seen.headers.get("range") for seen in web.server.seen]
    assert ranges == [None, f"bytes={1 << 20}-", f"bytes={(1 << 20) + 1000}-"]


def test_sources_are_tried_in_turn(place: Path, web: Web) -> None:
    gone = f"{web.server.url}/gone.csv"
    sourced(place, {"url": gone}, {"manual": "ask"}, {"url": web.url})
    lines: list[str] = []
    (got,) = get(place, lines)
    assert got.source == web.url
    assert any(line.startswith(f"{gone}: ") and "404" in line for line in lines)


@pytest.mark.parametrize(
    ("sent", "kind", "said"),
    [
        (b"<html>Sign in</html>", "text/html; charset=utf-8", "that is a page for people"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n",
            "text/plain",
            "that is a Git LFS pointer",
        ),
        (b"other bytes", "text/csv", "do not use it"),
        (b"", "text/csv", "(0 B)"),
    ],
)
def test_what_is_not_the_file_is_not_taken(
    place: Path, web: Web, sent: bytes, kind: str, said: str
) -> None:
    sourced(place, {"url": web.url}, {"manual": "Write to the data office."})
    web.files[PATH], web.kind = sent, kind
    with pytest.raises(UnavailableError) as caught:
        get(place)
    assert said in caught.value.message
    assert f"not {sha256(FILE)}" in caught.value.message
    assert "put the data at data/x.csv by hand" in caught.value.hint
    assert "Write to the data office" in caught.value.hint
    assert list(place.glob("data/*")) == []


def test_without_a_network_that_is_said(place: Path) -> None:
    with pytest.raises(UnavailableError) as caught:
        get(place)
    assert caught.value.message.startswith("data x (data/x.csv) could not be fetched: ")
    assert "127.0.0.1:9" in caught.value.message


def test_offline_takes_what_the_cache_has(
    place: Path, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    sourced(place, {"url": web.url})
    monkeypatch.setenv("RRA_OFFLINE", "1")
    with pytest.raises(UnavailableError, match="RRA_OFFLINE forbids to fetch it"):
        get(place)
    monkeypatch.delenv("RRA_OFFLINE")
    get(place)
    (place / "data/x.csv").unlink()
    monkeypatch.setenv("RRA_OFFLINE", "1")
    (got,) = get(place)
    assert (got.source, (place / "data/x.csv").read_bytes()) == ("cache", FILE)
    assert len(web.server.seen) == 1


@pytest.mark.parametrize(
    ("item", "message", "hint"),
    [
        (
            {"access": "gated", "sources": [{"manual": "Send form 7 to the office."}]},
            "data x (data/x.csv) is not here, and is gated",
            "Send form 7 to the office",
        ),
        (
            {"access": "private", "sources": []},
            "data x (data/x.csv) is not here, and is private",
            "ask whoever made the artifact",
        ),
    ],
)
def test_what_is_not_given_out_says_what_to_do(
    tmp_path: Path, item: dict[str, Any], message: str, hint: str
) -> None:
    root = artifact(tmp_path / "a", **item)
    with pytest.raises(UnavailableError) as caught:
        get(root)
    assert caught.value.message == message
    assert hint in caught.value.hint
    assert sha256(FILE).removeprefix("sha256:") in caught.value.hint
    (root / "data").mkdir()
    (root / "data/x.csv").write_bytes(FILE)
    assert get(root) == []


def test_another_file_in_its_place_is_refused(place: Path) -> None:
    (place / "data").mkdir()
    (place / "data/x.csv").write_bytes(b"changed")
    with pytest.raises(CorruptError, match=r"data/x.csv is sha256:.* as rra.lock says"):
        get(place)


@pytest.mark.clause("lock/data-elsewhere")
def test_the_first_lock_fetches_and_writes_the_digest_down(tmp_path: Path, web: Web) -> None:
    root = artifact(tmp_path / "a", {"url": web.url}, data=None)
    api.lock(root, keep=True)
    again = load_artifact(root)
    assert again.lock is not None
    assert again.lock.data["x"].to_json() == {"sha256": sha256(FILE), "size": len(FILE)}
    assert list(changes_since_lock(again)) == []
    (root / "data/x.csv").unlink()
    api.lock(root, keep=True)
    kept = load_artifact(root)
    assert kept.lock == again.lock
    assert len(web.server.seen) == 1


@pytest.mark.parametrize("kind", ["text/html", "text/csv"])
def test_the_first_lock_takes_no_page_for_a_file(tmp_path: Path, web: Web, kind: str) -> None:
    web.files[PATH], web.kind = b"<html></html>", kind
    root = artifact(tmp_path / "a", {"url": web.url}, data=None)
    notes = api.lock(root, keep=True).notes
    taken = (root / "data/x.csv").exists()
    assert taken == (kind == "text/csv")
    assert any("page for people" in note for note in notes) == (kind == "text/html")


def test_a_registry_gives_the_layer_of_that_digest(place: Path, server: HttpRegistry) -> None:
    layers = [server.add_blob(b"other"), server.add_blob(FILE)]
    manifest = sha256(server.add_manifest("v1", *layers))
    sourced(place, {"oci": f"{server.host}/team/data@{manifest}"})
    get(place)
    assert (place / "data/x.csv").read_bytes() == FILE


def test_a_registry_with_other_data_is_refused(place: Path, server: HttpRegistry) -> None:
    manifest = sha256(server.add_manifest("v1", server.add_blob(b"other")))
    sourced(place, {"oci": f"{server.host}/team/data@{manifest}"})
    with pytest.raises(UnavailableError, match=f"not {sha256(FILE)}"):
        get(place)


def test_a_doi_of_a_repository_gives_the_file_of_that_name(
    place: Path, server: HttpRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    def repository(seen: Seen) -> Reply | None:
        if seen.path == "/10.5281/zenodo.42":
            return Reply(302, headers={"Location": f"{server.url}/records/42"})
        if seen.path == "/records/42":
            return Reply(200, b"<html></html>", {"Content-Type": "text/html"})
        return Reply(200, FILE) if seen.path.endswith("/42/files/x.csv/content") else None

    server.rules.append(repository)
    monkeypatch.setattr(fetch, "_RESOLVER", f"{server.url}/")
    sourced(place, {"doi": "10.5281/zenodo.42"})
    (got,) = get(place)
    assert (got.source, got.sha256) == ("10.5281/zenodo.42", sha256(FILE))


def test_a_doi_that_leads_elsewhere_says_so(
    place: Path, server: HttpRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.rules.append(lambda seen: Reply(200, b"<html></html>"))
    monkeypatch.setattr(fetch, "_RESOLVER", f"{server.url}/")
    sourced(place, {"doi": "10.1000/1"})
    with pytest.raises(UnavailableError, match="a page from which no file can be told"):
        get(place)


def test_a_process_that_is_killed_leaves_nothing_half_written(place: Path, web: Web) -> None:
    headers = {"Content-Length": str(len(FILE))}
    stalled = iter([Reply(200, FILE[: 1 << 20], headers, stalls=True)])
    web.server.rules.insert(0, lambda _: next(stalled, None))
    sourced(place, {"url": web.url})
    program = (
        "import sys; from pathlib import Path\nfrom rra.artifact import load_artifact\n"
        "from rra.launch import fetch_data\nfetch_data(load_artifact(Path(sys.argv[1])), ['main'])"
    )
    child = subprocess.Popen([sys.executable, "-c", program, str(place)])
    partials = Path(os.environ["RRA_CACHE"]) / "partial"
    while not any(one.stat().st_size >= 1 << 20 for one in partials.glob("*")):
        assert child.poll() is None
    child.send_signal(signal.SIGKILL)
    child.wait()
    assert list(place.glob("data/*")) == []
    get(place)
    assert (place / "data/x.csv").read_bytes() == FILE
    assert web.server.seen[-1].headers["range"] == f"bytes={1 << 20}-"
    assert list(place.rglob(f"{STAGING_PREFIX}*")) == []
