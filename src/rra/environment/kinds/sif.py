"""Images of one file for Apptainer, made from what a container environment is declared to be."""

from __future__ import annotations

import dataclasses
import os
import platform
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from rra._base import canonical, places
from rra._base.files import atomic_write, sha256_file, storage_errors
from rra.environment.cache import sole_builder
from rra.environment.kinds.containerfile import debian_packages, render_containerfile
from rra.environment.kinds.protocol import BuildRequest
from rra.errors import EnvironmentBuildError
from rra.model import Environment
from rra.sandbox import Apptainer
from rra.sandbox.apptainer import SUFFIX

_OCI = "application/vnd.oci.image"
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}


@dataclasses.dataclass(frozen=True, slots=True)
class SifSource:
    """What an image is made from: system files of the artifact, or a base image with packages.

    Attributes:
        rootfs: Archive of system files; None where there is a base image.
        base: Name of the base image, by digest.
        packages: Debian packages that are added to that.
    """

    rootfs: Path | None = None
    base: str = ""
    packages: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """What tells images apart: 32 hexadecimal digits."""
        rootfs = sha256_file(self.rootfs) if self.rootfs else ""
        stamp = {"rootfs": rootfs, "base": self.base, "packages": list(self.packages)}
        return canonical.digest(stamp).removeprefix("sha256:")[:32]


def sif_source(request: BuildRequest, env: Environment, rootfs: Path | None) -> SifSource:
    """Return what the image of an environment is made from.

    Raises:
        EnvironmentBuildError: Its Containerfile is not the one that ``rra lock`` writes.
    """
    file = request.artifact.path(env.lock) if env.lock else None
    packages = tuple(debian_packages(request.id, env)) if file is not None else ()
    if file is not None and file.read_text("utf-8") != render_containerfile(request.id, env):
        message = f"{env.lock} was not written by rra lock, and Apptainer reads no Containerfile"
        hint = "build it with podman or docker, or declare base_image, rootfs and system_packages"
        raise EnvironmentBuildError(message, hint=hint)
    return SifSource(rootfs, env.base_image or "", packages)


def sif_image(request: BuildRequest, tool: Apptainer, source: SifSource) -> tuple[Path, bool]:
    """Make an image, or find the one that was made from the same; say whether it was there.

    It appears whole, by one rename, so a killed build leaves none.

    Raises:
        EnvironmentBuildError: It cannot be made.
        StorageError: The cache cannot be written.
    """
    image = places.make_cache() / "images" / f"{source.key}{SUFFIX}"
    with sole_builder(image), storage_errors(image):
        if image.is_file() and request.target is None:
            return image, True
        request.progress(f"building environment {request.id} with {tool.name}")
        image.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="rra-image-", dir=image.parent) as scratch:
            made = Path(scratch) / image.name
            done = tool.build(made, written_source(source, Path(scratch)))
            if not done.ok or not made.is_file():
                message = f"{tool.name} cannot build environment {request.id}: {done.last_error(3)}"
                hint = "check the network and the room on the disk, or build it with podman"
                raise EnvironmentBuildError(message, hint=hint)
            made.replace(image)
    return image, False


def written_source(source: SifSource, folder: Path) -> str:
    """Return what ``apptainer build`` is given, its files written into a folder."""
    if source.rootfs is not None and not source.packages:
        write_oci(source.rootfs, folder / "oci")
        return f"oci:{folder / 'oci'}"
    if not source.packages:
        return f"docker://{source.base}"
    if source.rootfs is not None:
        write_oci(source.rootfs, folder / "oci")
    atomic_write(folder / "image.def", definition(source, folder / "oci"))
    return str(folder / "image.def")


def definition(source: SifSource, oci: Path) -> str:
    """Return the definition of an image with packages of Debian added."""
    base = [f"Bootstrap: oci\nFrom: {oci}"] if source.rootfs is not None else []
    base = base or [f"Bootstrap: docker\nFrom: {source.base}"]
    lines = [
        *(*base, "", "%post", "    set -e", "    apt-get update"),
        "    DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends \\",
        "      " + " ".join(source.packages),
        "    rm -rf /var/lib/apt/lists/*",
    ]
    return "\n".join(lines) + "\n"


def write_oci(rootfs: Path, place: Path) -> None:
    """Write an image layout of the OCI with system files as its only layer."""
    blobs = place / "blobs" / "sha256"
    blobs.mkdir(parents=True)
    layer = sha256_file(rootfs)
    target = blobs / layer.removeprefix("sha256:")
    try:
        os.link(rootfs, target)
    except OSError:
        shutil.copyfile(rootfs, target)
    machine = platform.machine()
    config = {
        "architecture": _ARCHITECTURES.get(machine, machine),
        "os": "linux",
        "config": {},
        "rootfs": {"type": "layers", "diff_ids": [layer]},
    }
    manifest = {
        "schemaVersion": 2,
        "mediaType": f"{_OCI}.manifest.v1+json",
        "config": {"mediaType": f"{_OCI}.config.v1+json", **_blob(blobs, config)},
        "layers": [
            {
                "mediaType": f"{_OCI}.layer.v1.tar",
                "digest": layer,
                "size": target.stat().st_size,
            }
        ],
    }
    entry = {"mediaType": manifest["mediaType"], **_blob(blobs, manifest)}
    index = {"schemaVersion": 2, "manifests": [entry]}
    (place / "index.json").write_bytes(canonical.dumps(index))
    (place / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}', "utf-8")


def _blob(blobs: Path, document: Mapping[str, object]) -> dict[str, object]:
    content = canonical.dumps(document)
    digest = canonical.digest(document)
    (blobs / digest.removeprefix("sha256:")).write_bytes(content)
    return {"digest": digest, "size": len(content)}
