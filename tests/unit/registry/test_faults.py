"""Faults of the network and of registries, over whole pulls and pushes, with all five habits.

What can be got over is got over, with the very bytes; what cannot is an error that leaves nothing
behind it here and the old bundle under the tag there, and the next attempt works.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from rra.bundle.layout import LayoutStore
from rra.bundle.reference import RegistryReference
from rra.errors import RraError
from rra.registry import Policy, RegistryStore, open_store
from rra.registry.transfer import transfer
from tests.support.bundles import tree
from tests.support.http_registry import (
    QUIRKS,
    BreakOffError,
    HttpRegistry,
    Reply,
    Rule,
    Seen,
    http_registry,
)

KIB = 1 << 10
BLOBS = [random.Random(seed).randbytes(size) for seed, size in enumerate((700 * KIB, 90 * KIB, 7))]
BUSY = {"Retry-After": "86400"}
PROFILES = [profile for profile in QUIRKS if profile]


@pytest.fixture
def opened(waits: list[float]) -> Callable[[HttpRegistry], RegistryStore]:
    """Opens a repository; 512 KiB are large, and silence is noticed soon."""

    def open_it(server: HttpRegistry) -> RegistryStore:
        policy = Policy(
            connect_seconds=5, idle_seconds=2, sleep=waits.append, pieces_from=512 * KIB
        )
        return open_store(RegistryReference(server.host, "team/bundle"), policy=policy)

    return open_it


def fill(registry: HttpRegistry, tag: str = "1.0", *, extra: bytes = b"") -> bytes:
    layers = [registry.add_blob(data + extra) for data in BLOBS]
    return registry.add_manifest(tag, *layers)


def once(method: str, part: str, act: Callable[[Seen], Reply]) -> Rule:
    """Return a rule for the first request of a kind."""
    done: list[Seen] = []

    def rule(seen: Seen) -> Reply | None:
        if done or seen.method != method or part not in seen.path:
            return None
        done.append(seen)
        return act(seen)

    return rule


# --------------------------------------------------------------------------------- pulling

Fault = Callable[[HttpRegistry, HttpRegistry, Seen], Reply]


def drop(registry: HttpRegistry, elsewhere: HttpRegistry, seen: Seen) -> Reply:
    raise BreakOffError


def cut(registry: HttpRegistry, elsewhere: HttpRegistry, seen: Seen, **more: bool) -> Reply:
    reply = registry.plain(seen)
    reply.headers["Content-Length"] = str(len(reply.body))
    return Reply(reply.status, reply.body[: len(reply.body) // 2], reply.headers, **more)


def broken(registry: HttpRegistry, elsewhere: HttpRegistry, seen: Seen) -> Reply:
    return cut(registry, elsewhere, seen, breaks=True)


def stall(registry: HttpRegistry, elsewhere: HttpRegistry, seen: Seen) -> Reply:
    return cut(registry, elsewhere, seen, stalls=True)


def corrupt(registry: HttpRegistry, elsewhere: HttpRegistry, seen: Seen) -> Reply:
    reply = registry.plain(seen)
    middle = len(reply.body) // 2
    body = reply.body[:middle] + bytes([reply.body[middle] ^ 1]) + reply.body[middle + 1 :]
    return Reply(reply.status, body, reply.headers)


def redirect(registry: HttpRegistry, elsewhere: HttpRegistry, seen: Seen) -> Reply:
    elsewhere.blobs, elsewhere.manifests = registry.blobs, registry.manifests
    return Reply(307, headers={"Location": f"{elsewhere.url}{seen.target}"})


def busy(registry: HttpRegistry, elsewhere: HttpRegistry, seen: Seen) -> Reply:
    return Reply(429, headers=BUSY)


def down(registry: HttpRegistry, elsewhere: HttpRegistry, seen: Seen) -> Reply:
    return Reply(503)


PULLS: dict[str, tuple[Fault, bool]] = {
    "drop": (drop, True),
    "broken": (broken, True),
    "stall": (stall, True),
    "corrupt": (corrupt, False),
    "redirect": (redirect, True),
    "429": (busy, True),
    "503": (down, True),
}


@pytest.mark.parametrize("part", ["/manifests/", "/blobs/"])
@pytest.mark.parametrize("fault", PULLS)
@pytest.mark.parametrize("profile", PROFILES)
def test_a_pull_survives_or_leaves_nothing(
    registry: HttpRegistry,
    elsewhere: HttpRegistry,
    opened: Callable[[HttpRegistry], RegistryStore],
    waits: list[float],
    tmp_path: Path,
    profile: str,
    fault: str,
    part: str,
) -> None:
    registry.profile = profile
    data = fill(registry)
    act, survives = PULLS[fault]
    registry.rules.append(once("GET", part, lambda seen: act(registry, elsewhere, seen)))
    (tmp_path / "here").mkdir()
    place = tmp_path / "here" / "layout"

    def pull() -> None:
        transfer(opened(registry), LayoutStore(place), wanted=("1.0", None), tag="1.0")

    if survives:
        pull()
    else:
        with pytest.raises(RraError) as caught:
            pull()
        assert caught.value.exit_code in {3, 4}
        assert tree(tmp_path / "here") == {}
        pull()
    assert LayoutStore(place).get_manifest("1.0")[0] == data
    kept = {found for kind, found in tree(place / "blobs").values() if kind == "file"}
    assert kept == {*registry.blobs.values(), data}
    assert [path.name for path in (tmp_path / "here").iterdir()] == ["layout"]
    assert all(wait <= 30 for wait in waits)


# --------------------------------------------------------------------------------- pushing


def lost(registry: HttpRegistry, elsewhere: HttpRegistry, seen: Seen) -> Reply:
    registry.plain(seen)
    raise BreakOffError


def silent(registry: HttpRegistry, elsewhere: HttpRegistry, seen: Seen) -> Reply:
    return Reply(202, headers={"Content-Length": "9"}, stalls=True)


def refused(registry: HttpRegistry, elsewhere: HttpRegistry, seen: Seen) -> Reply:
    return Reply(400, b'{"errors": [{"code": "DIGEST_INVALID", "message": "corrupt"}]}')


PUSHES: dict[str, Fault] = {
    "drop": drop,
    "lost": lost,
    "silent": silent,
    "refused": refused,
    "redirect": redirect,
    "429": busy,
    "503": down,
}
STEPS = {
    "begin": ("POST", "/uploads/"),
    "send": ("PUT", "/uploads/"),
    "piece": ("PATCH", "/uploads/"),
    "tag": ("PUT", "/manifests/"),
}
OVERCOME = {"drop", "lost", "429", "503"}


def failure(call: Callable[[], None]) -> RraError | None:
    """Return the error that a call ends with, if it is one of ours."""
    try:
        call()
    except RraError as error:
        return error
    return None


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("fault", PUSHES)
@pytest.mark.parametrize("profile", PROFILES)
def test_a_push_survives_or_leaves_the_old_tag(
    registry: HttpRegistry,
    elsewhere: HttpRegistry,
    opened: Callable[[HttpRegistry], RegistryStore],
    waits: list[float],
    profile: str,
    fault: str,
    step: str,
) -> None:
    registry.profile = profile
    old = fill(registry, extra=b"old")
    method, part = STEPS[step]
    act = PUSHES[fault]
    with http_registry() as source:
        new = fill(source)

        def push() -> None:
            transfer(opened(source), opened(registry), wanted=("1.0", None), tag="1.0")

        registry.rules.append(once(method, part, lambda seen: act(registry, elsewhere, seen)))
        problem = failure(push)
        if problem is not None:
            assert fault not in OVERCOME, problem.message
            assert problem.exit_code in {3, 4}
            assert registry.manifests["1.0"][0] in {old, new}
        push()
    assert registry.manifests["1.0"][0] == new
    assert set(BLOBS) <= set(registry.blobs.values())
    assert {data + b"old" for data in BLOBS} <= set(registry.blobs.values())
    assert elsewhere.blobs in ({}, registry.blobs)
    assert all(wait <= 30 for wait in waits)
