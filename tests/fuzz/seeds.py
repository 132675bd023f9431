"""Where fuzzing begins: valid inputs, and hostile ones that other tests know by name.

`python tools/fuzz.py --write-corpus` writes them below ``tests/fuzz/corpus/``. What a run found
(``crash-…``) lies there too and is never removed by it.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import zstandard

from rra._base import canonical
from rra.bundle.config import BUNDLE_TYPE, CONFIG_TYPE, TITLE, layer_type
from rra.bundle.store import INDEX_TYPE, MANIFEST_TYPE
from rra.signing import sign
from tests.adversarial.hostile_archives import CASES, GOOD
from tests.support.archives import FOLDER, file, folder, hard, link, member, pax, record, tar
from tests.support.signing import ecdsa_key, ed25519_key, review_statement

CORPUS = Path(__file__).parent / "corpus"
LARGEST = 5 << 10
"""Bytes of the largest seed: small ones are what fuzzing is good at."""

CONFORMANCE = Path(__file__).resolve().parents[2] / "schemas" / "conformance" / "v1"
HEX = "0123456789abcdef" * 4
SUBJECT = "sha256:" + HEX
STATEMENT = review_statement(SUBJECT)
SIGNERS = (ed25519_key(), ecdsa_key())
Seeds = Iterator[tuple[str, bytes]]

TAR_CASES = [
    "02-deep-dotdot",
    "04-symlink-abs-then-write",
    "06-symlink-to-outside-file",
    "09-hardlink-to-symlink",
    "11-cve-2025-4330",
    "12-empty-names",
    "15-fifo",
    "16-setuid",
    "17-duplicate-file",
    "18-file-then-dir-child",
    "19-case-collision",
    "20-nfd-name",
    "24-bidi",
    "25-pax-path-override",
    "pax-size-mismatch",
    "pax-unsorted",
    "pax-huge-size",
    "pax-twice",
    "27-gnu-long-name",
    "28-sparse",
    "38-negative-size",
    "32-huge-declared-size",
    "29-truncated",
    "30-trailing-garbage",
    "31-second-archive",
    "one-zero-block",
    "36-symlink-loop",
]


def _blob(data: bytes) -> dict[str, Any]:
    return {"digest": "sha256:" + hashlib.sha256(data).hexdigest(), "size": len(data)}


def _bundle(name: str) -> bytes:
    """Return a config of the corpus of the format."""
    (path,) = CONFORMANCE.glob(f"*/bundle/{name}/config.json")
    return path.read_bytes()


def manifest_of(config: bytes) -> bytes:
    """Return a manifest that fits a config as far as one can; its layers may be nonsense."""
    try:
        records = json.loads(config)["layers"]
    except (ValueError, KeyError, TypeError, RecursionError):
        records = [{}]
    layers = []
    for number, one in enumerate(records if isinstance(records, list) else []):
        known = one if isinstance(one, dict) else {}
        algorithm = known.get("compressor", {})
        packed = algorithm.get("algorithm") if isinstance(algorithm, dict) else None
        form: Any = "raw" if "path" in known else f"tar+{packed}" if packed else "tar"
        blob = {key: known[key] for key in ("digest", "size") if key in known}
        kind = layer_type(str(known.get("element", "meta")), form)
        layers.append({"mediaType": kind, **blob, "annotations": {TITLE: f"layer-{number}"}})
    document = {
        "schemaVersion": 2,
        "mediaType": MANIFEST_TYPE,
        "artifactType": BUNDLE_TYPE,
        "config": {"mediaType": CONFIG_TYPE, **_blob(config)},
        "layers": layers,
        "annotations": {"org.opencontainers.image.version": "1.0.0"},
    }
    return json.dumps(document, indent=1).encode()


def _tars() -> Seeds:
    yield "good", GOOD
    yield "good-empty", bytes(1024)
    yield "good-program", tar(member("run.sh", b"#!/bin/sh\n", mode=0o755))
    yield (
        "good-long",
        tar(
            folder("d" * 60),
            folder("d" * 60 + "/" + "e" * 60),
            file("d" * 60 + "/" + "e" * 60 + "/f"),
        ),
    )
    yield "good-unicode", tar(folder("ü"), file("ü/データ", b"1,2\n"), link("ý", "ü/データ"))
    for name in TAR_CASES:
        made = CASES[name][0]
        data = made if isinstance(made, bytes) else made("/victim")
        yield f"hostile-{name}", data[:LARGEST]


def _layers() -> Seeds:
    """A compressed archive behind the byte that says how: 0 zstd, 1 gzip."""
    text = b"".join(b"%d,%d\n" % (number, number * number % 97) for number in range(400))
    frame = zstandard.ZstdCompressor(level=3, write_checksum=True, write_content_size=False)
    yield "good-zstd", b"\0" + frame.compress(text)
    sized = zstandard.ZstdCompressor(level=3, write_checksum=False, write_content_size=True)
    yield "good-zstd-sized", b"\0" + sized.compress(text[:300])
    yield "good-zstd-empty", b"\0" + frame.compress(b"")
    yield "good-gzip", b"\1" + gzip.compress(text, mtime=0)
    yield "hostile-two-frames", b"\0" + frame.compress(b"a") + frame.compress(b"b")
    yield "hostile-two-members", b"\1" + gzip.compress(b"a", mtime=0) + gzip.compress(b"b", mtime=0)
    yield "hostile-skippable", b"\0\x50\x2a\x4d\x18\x04\0\0\0evil" + frame.compress(b"a")
    run = ((1 << 17) << 3 | 1 << 1).to_bytes(3, "little") + b"\0"
    yield "hostile-zstd-bomb", b"\0\x28\xb5\x2f\xfd\x00\x58" + run * 200
    yield "hostile-window", b"\0\x28\xb5\x2f\xfd\x00\xa0" + run
    yield "hostile-gzip-bomb", b"\1" + gzip.compress(bytes(3 << 20), mtime=0)


def _archives() -> Seeds:
    """A whole bundle of two documents and no layer's bytes, as a tar of an image layout."""
    config = _bundle("smallest")
    manifest = manifest_of(config)
    index = {
        "schemaVersion": 2,
        "mediaType": INDEX_TYPE,
        "manifests": [
            {
                "mediaType": MANIFEST_TYPE,
                **_blob(manifest),
                "annotations": {"org.opencontainers.image.ref.name": "1.0"},
            }
        ],
    }
    files = {
        **{"blobs/sha256/" + hashlib.sha256(data).hexdigest(): data for data in (config, manifest)},
        "index.json": json.dumps(index).encode(),
        "oci-layout": b'{"imageLayoutVersion":"1.0.0"}',
    }
    plain = [folder("blobs"), folder("blobs/sha256")]
    plain += [file(name, data) for name, data in sorted(files.items())]
    yield "good", tar(*plain)
    sizes = [member(name, data, records={"size": str(len(data))}) for name, data in files.items()]
    yield "good-pax", pax(record("comment", "x"), kind=b"g") + tar(*sizes)
    yield "hostile-two", tar(*plain, file("index.json", b"{}"))
    yield "hostile-link", tar(link("index.json", "/etc/passwd"), hard("oci-layout", "index.json"))
    yield "hostile-names", tar(file("../index.json"), member("\x1b[2J/", kind=FOLDER))
    yield "hostile-cut", tar(*plain)[:3000]


def _indexes() -> Seeds:
    entry = {"mediaType": MANIFEST_TYPE, "digest": "sha256:" + HEX, "size": 7}
    name = "org.opencontainers.image.ref.name"
    other = {**entry, "digest": "sha256:" + HEX[::-1]}

    def index(*entries: dict[str, Any], **more: Any) -> bytes:
        document = {"schemaVersion": 2, "mediaType": INDEX_TYPE, "manifests": entries, **more}
        return json.dumps(document).encode()

    yield "good", index({**entry, "annotations": {name: "1.0"}}, entry)
    yield "two", index({**entry, "annotations": {name: "1.0"}}, other)
    yield (
        "good-referrer",
        index(
            {**entry, "artifactType": "application/x"}, subject={**other, "annotations": {"a": "b"}}
        ),
    )
    yield "empty", index()
    yield (
        "hostile-same-tag",
        index({**entry, "annotations": {name: "1"}}, {**other, "annotations": {name: "1"}}),
    )
    yield "hostile-tag", index({**entry, "annotations": {name: "\x1b]0;owned\x07"}})
    yield "hostile-type", index({**entry, "mediaType": "\x1b[2J", "annotations": {name: "1"}})
    yield "hostile-size", index({**entry, "size": -1}, {**entry, "size": 1.5})
    yield "hostile-nested", index({**entry, "mediaType": INDEX_TYPE})


def _manifests() -> Seeds:
    for name in ("smallest", "raw-and-parts", "not-compressed"):
        yield f"good-{name}", manifest_of(_bundle(name))
    good = json.loads(manifest_of(_bundle("smallest")))
    layer = good["layers"][0]
    changes: dict[str, dict[str, Any]] = {
        "path-digest": {"layers": [{**layer, "digest": "sha256:../../x"}]},
        "title": {"layers": [{**layer, "annotations": {TITLE: "../../out"}}]},
        "escape": {"layers": [{**layer, "annotations": {TITLE: "a\x1b[31mb\u202e"}}]},
        "twice": {"layers": [layer, layer]},
        "kind": {"artifactType": "\x1b]0;x\x07"},
        "hybrid": {"manifests": []},
        "urls": {"layers": [{**layer, "urls": ["http://127.0.0.1:1/x"], "data": "ZXZpbA=="}]},
        "float": {"layers": [{**layer, "size": 1.0}]},
        "large": {"layers": [{**layer, "size": 10**400}]},
        "surrogate": {"annotations": {"a": "\ud800"}},
    }
    for name, change in changes.items():
        yield f"hostile-{name}", json.dumps({**good, **change}).encode()
    yield "hostile-deep", b'{"config":' * 120
    yield "hostile-duplicate", b'{"schemaVersion": 2, "schemaVersion": 2}'
    yield "hostile-nan", b'{"schemaVersion": NaN}'


def _configs() -> Seeds:
    for place in sorted((CONFORMANCE / "valid" / "bundle").iterdir()):
        yield (
            f"good-{place.name}",
            canonical.dumps(json.loads((place / "config.json").read_bytes())),
        )
    for name in ("raw-path-climbs-out", "part-of-nothing", "outcome-id", "lock-inside"):
        yield f"hostile-{name}", canonical.dumps(json.loads(_bundle(name)))


def _definitions() -> Seeds:
    for place in sorted((CONFORMANCE / "valid" / "manifest").iterdir())[::4]:
        for path in place.glob("rra.yaml"):
            yield f"good-{place.name}", path.read_bytes()
    for place in sorted((CONFORMANCE / "invalid" / "manifest").iterdir())[::6]:
        for path in place.glob("rra.yaml"):
            yield f"hostile-{place.name}", path.read_bytes()[:LARGEST]
    yield "hostile-laughs", b"a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: [*c, *c]\n"
    yield "hostile-cycle", b"a: &x\n  b: {c: *x}\n"
    yield "hostile-tag", b"!!python/object/apply:os.system ['true']\n"
    yield "hostile-merge", b"a: &a {b: 1}\nc: {<<: *a, <<: [*a, *a]}\n"


def _references() -> Seeds:
    texts = {
        "good-directory": "./artifact",
        "good-layout": f"oci-layout:some/place:1.0@sha256:{HEX}",
        "good-archive": "oci-archive:x.oci.tar:1.2.0+cu128",
        "good-registry": f"r.example:5000/team/name:1.0@sha256:{HEX}",
        "good-loopback": "[::1]:5000/a/b_c.d--e:latest",
        "address": f"https://z.example/records/7/x.oci.tar#sha256:{HEX}",
        "hostile-login": "user:pw@r.example/a:1",
        "hostile-scheme": "HTTP://evil/x:y",
        "hostile-digest": "oci-layout:a@sha256:../../x",
        "hostile-traversal": "r.example/../x:1",
        "hostile-long-name": "r.example/" + "a" * 300,
        "hostile-long-tag": "r.example/a:" + "t" * 300,
        "hostile-separators": "r.example/" + "a-" * 60 + "!",
        "hostile-control": "r.example/a\x1b[2J:1",
    }
    for name, text in texts.items():
        yield name, text.encode()


def _signatures() -> Seeds:
    """A statement signed with a key that is known, and shapes that are refused."""
    for key in SIGNERS:
        yield f"good-{key.algorithm}", sign(STATEMENT, key)
    good = json.loads(sign(STATEMENT, SIGNERS[0]))
    yield "good-no-hint", json.dumps({**good, "verificationMaterial": {"publicKey": {}}}).encode()
    envelope = good["dsseEnvelope"]
    changes: dict[str, dict[str, Any]] = {
        "two": {"signatures": envelope["signatures"] * 2},
        "none": {"signatures": []},
        "type": {"payloadType": "application/json\x1b[2J"},
        "bits": {"payload": envelope["payload"][:-2] + "R="},
        "payload": {"payload": "e30="},
    }
    for name, change in changes.items():
        yield f"hostile-{name}", json.dumps({**good, "dsseEnvelope": envelope | change}).encode()
    yield "hostile-duplicate", sign(STATEMENT, SIGNERS[0]).replace(b"{", b'{"mediaType":"a",', 1)
    material = {"certificate": {"rawBytes": "MAA="}, "tlogEntries": []}
    yield "certificate", json.dumps({**good, "verificationMaterial": material}).encode()
    yield (
        "hostile-hint",
        json.dumps(
            {**good, "verificationMaterial": {"publicKey": {"hint": "\x1b]0;x\x07"}}}
        ).encode(),
    )


SEEDS = {
    "tar": _tars,
    "layer": _layers,
    "archive": _archives,
    "index": _indexes,
    "manifest": _manifests,
    "config": _configs,
    "definition": _definitions,
    "reference": _references,
    "signature": _signatures,
}


def write_corpus() -> int:
    """Write the seeds anew, beside what runs have found; return how many they are."""
    written = 0
    for harness, seeds in SEEDS.items():
        place = CORPUS / harness
        place.mkdir(parents=True, exist_ok=True)
        for path in place.iterdir():
            if not path.name.startswith("crash-"):
                path.unlink()
        for name, data in seeds():
            (place / name).write_bytes(data)
            written += 1
    return written


def corpus(harness: str) -> dict[str, bytes]:
    """Return the inputs of a harness by name."""
    return {path.name: path.read_bytes() for path in sorted((CORPUS / harness).iterdir())}
