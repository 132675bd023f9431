"""Kind ``container``: an image by digest, or built from a Containerfile by podman or docker."""

from __future__ import annotations

import dataclasses
import os
import re
import shutil
import tempfile
from pathlib import Path, PurePosixPath

from rra._base import canonical
from rra._base.files import atomic_write, safe_join, sha256_file, storage_errors
from rra.environment.built import Built, named_environment
from rra.environment.cache import sole_builder
from rra.environment.kinds.containerfile import debian_packages, render_containerfile
from rra.environment.kinds.described import DescribedKind, locked_file
from rra.environment.kinds.finding import find_files
from rra.environment.kinds.image import image_facts
from rra.environment.kinds.protocol import (
    Ability,
    BuildRequest,
    Description,
    KindLock,
    LockRequest,
)
from rra.environment.kinds.sif import sif_image, sif_source
from rra.errors import EnvironmentBuildError, UsageError
from rra.model import Environment
from rra.sandbox import Apptainer, Engine, find_builder
from rra.sandbox.protocol import Level

_FILES = re.compile(r"(?:[\w.-]+\.)?(?:Docker|Container)file(?:\.[\w.-]+)?|Singularity|[\w-]+\.def")
_FROM = re.compile(r"^\s*FROM\s+(?:--\S+\s+)*(\S+)", re.IGNORECASE | re.MULTILINE)
_MOST_TEXT = 1 << 20

CONTAINERFILE = "Containerfile"


@dataclasses.dataclass(frozen=True, slots=True)
class ContainerKind(DescribedKind):
    """Writes Containerfiles and builds images."""

    name: str = "container"

    @property
    def isolation(self) -> Level:
        """Level of its isolation: launchers run in the image."""
        return "container"

    def can(self) -> frozenset[Ability]:
        """Return what this kind does: images are built or fetched, and launchers run in them."""
        return frozenset({"lock", "build", "run"})

    def detect(self, root: Path) -> tuple[str, ...]:
        """Return the Containerfiles, Dockerfiles and definitions of Apptainer."""
        return find_files(root, _FILES)

    def describe(self, root: Path, env: Environment) -> Description:
        """Say which image it is built on, and what is added."""
        packages = tuple(
            sorted(
                f"{distribution}: {name}"
                for distribution, names in (env.system_packages or {}).items()
                for name in names
            )
        )
        files = (str(env.lock),) if env.lock else () if env.base_image else self.detect(root)
        base = env.base_image or str(env.rootfs or "")
        problems: list[str] = []
        if files and (root / files[0]).is_file():
            with (root / files[0]).open("rb") as stream:
                text = stream.read(_MOST_TEXT).decode("utf-8", "replace")
            bases = [image for image in _FROM.findall(text) if image != "scratch"]
            base = base or (bases[-1] if bases else "")
            problems = [
                f"{files[0]} builds on {image}, whose content changes: name it by digest"
                for image in dict.fromkeys(bases)
                if "@sha256:" not in image
            ]
        elif env.lock:
            problems = [f"there is no {env.lock}"]
        return Description(
            kind=self.name,
            version=base,
            packages=packages,
            files=tuple(files),
            rebuilt="by podman or docker" if base or files else "",
            problems=tuple(problems),
        )

    def lock(self, request: LockRequest) -> KindLock:
        """Write the Containerfile, where the manifest names one.

        Raises:
            UsageError: The manifest does not say what to build on.
            StorageError: The disk is full or refuses.
        """
        env = request.env
        packages = tuple(debian_packages(request.id, env))
        if env.lock is None:
            if env.base_image and not (packages or env.variables):
                return KindLock(lock=None)
            message = f"environment {request.id} needs a Containerfile, and names none"
            hint = f"add lock: environment/{request.id}/{CONTAINERFILE} to it in rra.yaml"
            raise UsageError(message, hint=hint)
        place = safe_join(request.root, PurePosixPath(env.lock))
        before = place.read_bytes() if place.is_file() else None
        if before is not None and not before.startswith(b"# Environment "):
            return KindLock(lock=place, packages=packages)
        text = render_containerfile(request.id, env)
        if before == text.encode():
            return KindLock(lock=place, packages=packages)
        with storage_errors(place):
            place.parent.mkdir(parents=True, exist_ok=True)
            atomic_write(place, text)
        return KindLock(lock=place, packages=packages, changed=True)

    def build(self, request: BuildRequest) -> Built:
        """Build the image, or find the one that was built from the same files.

        The image gets its name only when it is whole, so a killed build leaves none.

        Raises:
            UsageError: It is not locked.
            CorruptError: The Containerfile is not the one of ``rra.lock``, or the engine has
                another image under a digest.
            EnvironmentBuildError: The image cannot be built or fetched.
            ToolMissingError: Neither podman nor docker works here.
        """
        artifact = request.artifact
        env = named_environment(artifact, request.id)
        if env.lock is None:
            engine = find_builder()
            if isinstance(engine, Apptainer):
                return _converted(request, env, engine)
            return self._fetched(request, env, engine)
        file, digest = locked_file(artifact, request.id, env)
        rootfs = artifact.path(env.rootfs) if env.rootfs else None
        stamp = {"lock": digest, "rootfs": sha256_file(rootfs) if rootfs else ""}
        key = canonical.digest(stamp).removeprefix("sha256:")[:32]
        name = f"localhost/rra-environment:{key}"
        engine = find_builder()
        if isinstance(engine, Apptainer):
            alone = rootfs is not None and not _runs(file)
            done = _converted(request, env, engine, rootfs)
            return dataclasses.replace(done, lock_digest=digest, bundled=alone, offline=alone)
        anew = request.target is not None
        with sole_builder(Path(f"/rra-images/{key}")):
            image = None if anew else engine.image(name)
            reused = image is not None
            if image is None:
                request.progress(f"building environment {request.id} with {engine.name}")
                image = _build(engine, name, file, rootfs, request.id, anew=anew)
        alone = rootfs is not None and not _runs(file)
        done = _made(request.id, env, engine, image, name)
        return dataclasses.replace(
            done, lock_digest=digest, bundled=alone, offline=alone, reused=reused
        )

    def _fetched(self, request: BuildRequest, env: Environment, engine: Engine) -> Built:
        image = env.base_image
        if image is None:
            message = f"environment {request.id} has neither lock nor base_image"
            raise UsageError(message, hint="add base_image: NAME@sha256:… to it in rra.yaml")
        found = engine.image(image)
        if found is None:
            request.progress(f"fetching {image}")
            done = engine.run(["pull", "--quiet", image])
            if not done.ok:
                message = f"{engine.name} cannot fetch {image}: {done.last_error(1)}"
                hint = "check the network, or load the image from a file of your own"
                raise EnvironmentBuildError(message, hint=hint)
        held = found or engine.image(image) or ""
        made = _made(request.id, env, engine, held, image)
        digest = image.rpartition("@")[2]
        return dataclasses.replace(made, lock_digest=digest, reused=found is not None)


def _converted(
    request: BuildRequest, env: Environment, engine: Apptainer, rootfs: Path | None = None
) -> Built:
    """Make the image of one file that Apptainer enters, or find the one that was made."""
    wanted = sif_source(request, env, rootfs)
    image, reused = sif_image(request, engine, wanted)
    made = _made(request.id, env, engine, engine.image(str(image)) or "", str(image))
    digest = (env.base_image or "").rpartition("@")[2]
    return dataclasses.replace(made, lock_digest=digest or made.lock_digest, reused=reused)


def _made(env_id: str, env: Environment, engine: Engine | Apptainer, held: str, name: str) -> Built:
    """Describe an image that the engine has as an environment; its digest stands for its lock."""
    facts = image_facts(engine, name, held)
    return Built(
        id=env_id,
        root=None,
        python=facts.python,
        bin=None,
        version=facts.version,
        base_prefix=None,
        variables={**facts.variables, **(env.variables or {})},
        packages=facts.packages,
        lock_digest=held,
        installed_digest=held,
        kind="container",
        image=name,
    )


def _runs(file: Path) -> bool:
    """Tell whether a Containerfile runs anything, so may ask the network."""
    return b"\nRUN " in file.read_bytes()


def _build(
    engine: Engine, name: str, file: Path, rootfs: Path | None, env_id: str, *, anew: bool
) -> str:
    """Build in a folder that holds nothing but what the Containerfile may take."""
    with tempfile.TemporaryDirectory(prefix="rra-image-") as scratch:
        context = Path(scratch)
        if rootfs is not None:
            try:
                os.link(rootfs, context / rootfs.name)
            except OSError:
                shutil.copyfile(rootfs, context / rootfs.name)
        options = [] if rootfs is None or _runs(file) else ["--network=none"]
        options += ["--no-cache"] if anew else []
        done = engine.run(["build", "--quiet", *options, "--tag", name, "--file", file, context])
    image = engine.image(name) if done.ok else None
    if image is None:
        message = f"{engine.name} cannot build environment {env_id}: {done.last_error(3)}"
        hint = f"see what fails with: {engine.name} build --file {file.name} {file.parent}"
        raise EnvironmentBuildError(message, hint=hint)
    return image
