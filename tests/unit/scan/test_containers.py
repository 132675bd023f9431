from __future__ import annotations

import shlex

import pytest

from rra.scan.containers import image_files, inside_container, text_inside


@pytest.mark.parametrize(
    ("text", "inner"),
    [
        ("docker run demo python a.py --n 3", "python a.py --n 3"),
        ("docker run --rm -it --gpus all -e A=1 demo:latest bash run.sh", "bash run.sh"),
        ("docker run --gpus=all -v $PWD/out:/out demo python -m pkg.fig", "python -m pkg.fig"),
        ("podman exec -w /app box python a.py", "python a.py"),
        ("singularity exec --nv --bind data:/data env.sif python a.py", "python a.py"),
        ('docker run -v "$(pwd)":/work demo python /work/tools/a.py', "python tools/a.py"),
        ("docker run -v ./code:/src demo python /src/a.py", "python code/a.py"),
        ("docker run demo python /app/a.py", "python a.py"),
        ("docker run demo ./solve", "./solve"),
    ],
)
def test_the_command_within_a_container_is_found(text: str, inner: str) -> None:
    assert inside_container(shlex.split(text)) == shlex.split(inner)


@pytest.mark.parametrize(
    "text",
    ["docker run demo", "docker run -it demo bash", "docker build .", "docker ps", "python a.py"],
)
def test_without_a_command_nothing_is_within(text: str) -> None:
    assert inside_container(shlex.split(text)) is None


def test_redirections_stay_with_what_is_within() -> None:
    text = 'sudo docker run -v "$(pwd)/out:/out" demo python a.py --n 3 > out/log.txt'
    assert text_inside(text) == "python a.py --n 3 > out/log.txt"
    assert text_inside("python a.py") == "python a.py"
    assert text_inside("docker run 'open python a.py") == "docker run 'open python a.py"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("docker build -t demo .", "Dockerfile"),
        ("docker build -f docker/gpu.Dockerfile -t demo .", "docker/gpu.Dockerfile"),
        ("docker build --file=x/Dockerfile $DIR", "x/Dockerfile"),
        ("docker buildx build -t demo images/", "images/Dockerfile"),
        ("docker-compose up -d", "docker-compose.yml"),
        ("docker compose -f ci/compose.yml up", "ci/compose.yml"),
        ("apptainer build env.sif env.def", "env.def"),
        ("docker pull demo", None),
    ],
)
def test_the_file_that_makes_a_container(text: str, first: str | None) -> None:
    assert next(iter(image_files(shlex.split(text))), None) == first
