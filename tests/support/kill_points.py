"""What has to hold after a kill at any point of a verb that moves bundles."""

from __future__ import annotations

import contextlib
import json
import random
import shutil
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from rra._base.files import STAGING_PREFIX
from rra.api import lock, pack
from rra.bundle.store import MANIFEST_TYPE
from tests.support.artifacts import COMPUTES, make_artifact
from tests.support.bundles import tree
from tests.support.killing import Killer, killer

FORMS = ("", "oci-layout:", "oci-archive:")
LARGEST = 900_000
"""Bytes of the largest file of `make_bundle`, but for its number."""


def make_bundle(folder: Path, version: str) -> str:
    """Make a bundle with layers of several blocks; return its reference with the digest."""
    noise = random.Random(version)
    data = {f"code/data-{number}.bin": noise.randbytes(LARGEST + number) for number in range(3)}
    files = {"main.py": COMPUTES, "guide/GUIDE.md": "# Guide\n", "LICENSE": "MIT\n"}
    make_artifact(folder / "tiny", {**files, **data}, version=version)
    lock(folder / "tiny", keep=True)
    made = pack(folder / "tiny", f"oci-layout:{folder / 'layout'}")
    assert made.ok, made.problems
    return made.target


def points(
    call: Callable[..., dict[str, object]], count: int, seed: int, *, largest: int = 0
) -> Iterator[dict[str, float]]:
    """Yield where to kill: at an event, at a byte, after a time, in turn and all from a seed.

    Args:
        call: Makes the call once in a fresh place, without a kill.
        count: Number of points.
        seed: Of the choice.
        largest: Bytes of the largest file that the call writes.
    """
    whole = call()
    assert whole["ok"], whole
    choice = random.Random(seed)
    seconds, most = float(str(whole["seconds"])), {"written": largest}
    most |= {name: int(str(whole[name])) for name in ("events", "sent", "received")}
    bytewise = [name for name in ("written", "sent", "received") if most[name] > 4096]
    for number in range(count):
        match number % 4:
            case 0 | 2:
                yield {"event": choice.randint(1, most["events"])}
            case 1 if bytewise:
                name = bytewise[number // 4 % len(bytewise)]
                yield {name: choice.randrange(most[name])}
            case _:
                yield {"after": max(choice.uniform(0, seconds * 1.2), 0.0005)}


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """Give a folder in memory where there is one: a thousand kills wait for no disk."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        (Path(folder) / "temporary").mkdir()
        yield Path(folder)


@contextlib.contextmanager
def deadly(folder: Path, **environment: str) -> Iterator[Killer]:
    """Run verbs that are killed, whose cache and temporary files lie in a folder."""
    places = {"RRA_CACHE": str(folder / "cache"), "TMPDIR": str(folder / "temporary")}
    with killer(**places, **environment) as parent:
        yield parent


def leftovers(*places: Path) -> list[Path]:
    """Return everything that is not whole, wherever it lies."""
    return [path for place in places for path in place.rglob(f"{STAGING_PREFIX}*")]


def content(place: Path) -> object:
    """Return everything of a file or folder."""
    return place.read_bytes() if place.is_file() else tree(place)


def killed_pulls(killer: Killer, reference: str, folder: Path, count: int, seed: int) -> int:
    """Kill pulls at points of all three forms, repeat each, and hold it against an undisturbed one.

    Returns:
        How many were killed; the others had ended before their point.
    """
    cache, killed = folder / "cache", 0
    for number, form in enumerate(FORMS):
        place = folder / f"place-{number}"
        target = place / "study"

        def call(**kill: float) -> dict[str, object]:
            return killer.call("pull", reference, f"{form}{target}", **kill)  # noqa: B023

        def fresh() -> dict[str, object]:
            place.mkdir()  # noqa: B023
            return call()

        expected = None
        each, largest = -(-count // len(FORMS)), LARGEST
        for point in points(fresh, each, seed + number, largest=largest):
            if expected is None:
                expected = content(target)
            shutil.rmtree(place)
            place.mkdir()
            first = call(**point)
            killed += bool(first["killed"])
            if target.exists():  # the kill came after the end, or there was none
                assert content(target) == expected, (form, point)
            if form or not target.exists():
                again = call()
                assert again["ok"], (form, point, again)
            assert content(target) == expected, (form, point)
            assert [path.name for path in place.iterdir()] == ["study"], (form, point)
            assert list((cache / "partial").iterdir()) == [], (form, point)
    return killed


def killed_unpacks(killer: Killer, reference: str, folder: Path, count: int, seed: int) -> int:
    """Kill unpacks of a local bundle, repeat each, and hold it against an undisturbed one.

    Every other target is an empty folder that was there before.

    Returns:
        How many were killed; the others had ended before their point.
    """
    place, killed, expected = folder / "place", 0, None
    target = place / "study"

    def call(**kill: float) -> dict[str, object]:
        return killer.call("unpack", reference, str(target), **kill)

    def fresh() -> dict[str, object]:
        place.mkdir()
        return call()

    for number, point in enumerate(points(fresh, count, seed, largest=LARGEST)):
        if expected is None:
            expected = tree(target)
        shutil.rmtree(place)
        (target if number % 2 else place).mkdir(parents=True)
        first = call(**point)
        killed += bool(first["killed"])
        found = tree(target) if target.exists() else {}
        assert found == expected if first["ok"] else found in ({}, expected), point
        if not found:
            again = call()
            assert again["ok"], (point, again)
        assert tree(target) == expected, point
        if not found:  # what a kill after the end left stays until somebody works here again
            assert [path.name for path in place.iterdir()] == ["study"], point
    assert leftovers(folder / "temporary") == []
    return killed


def manifest(host: str, path: str) -> str:
    """Return the digest that a tag of a registry stands for, asked for with nothing of ours."""
    address = f"http://{host}/v2/{path.replace(':', '/manifests/')}"
    request = urllib.request.Request(address, headers={"Accept": MANIFEST_TYPE})
    with urllib.request.urlopen(request, timeout=60) as answer:
        document = json.loads(answer.read())
        digest: str = answer.headers["Docker-Content-Digest"]
    for blob in (document["config"], *document["layers"]):
        where = f"http://{host}/v2/{path.partition(':')[0]}/blobs/{blob['digest']}"
        head = urllib.request.Request(where, method="HEAD")
        with urllib.request.urlopen(head, timeout=60) as answer:
            assert int(answer.headers["Content-Length"]) == blob["size"]
    return digest


def killed_pushes(
    killer: Killer,
    old: str,
    new: str,
    host: str,
    count: int,
    seed: int,
    name: str = "study",
    *,
    directory: str | None = None,
) -> int:
    """Kill pushes over a tag that is in use; the tag is whole all the time, old or new.

    Each push goes to a repository of its own, so that nothing of an earlier one is there.

    Args:
        killer: Runs the pushes.
        old: Reference of the bundle that the tag stands for.
        new: Reference of the bundle that is pushed.
        host: The registry.
        count: Number of points.
        seed: Of their choice.
        name: Start of the names of the repositories.
        directory: Artifact of which `new` is the bundle, to be pushed itself.

    Returns:
        How many were killed; the others had ended before their point.
    """
    before, after = old.partition("@")[2], new.partition("@")[2]
    killed, pushed = 0, directory or new

    def measure() -> dict[str, object]:
        return killer.call("push", pushed, f"{host}/{name}-measured:1")

    for number, point in enumerate(points(measure, count, seed)):
        path = f"{name}-{number}:1"
        assert killer.call("push", old, f"{host}/{path}")["ok"]
        first = killer.call("push", pushed, f"{host}/{path}", **point)
        killed += bool(first["killed"])
        now = manifest(host, path)
        assert now == after if first["ok"] else now in {before, after}, point
        again = killer.call("push", pushed, f"{host}/{path}")
        assert again["ok"], (point, again)
        assert manifest(host, path) == after, point
    return killed
