#!/usr/bin/env bash
# Installs the Debian packages that some tests need and pip cannot bring.
# tests/support/needs.py names the same packages where a test is skipped.
set -euo pipefail

packages=(
  bubblewrap      # isolation: the sandbox level "bwrap"
  docker-registry # the registry that bundles go to and come from
  build-essential # make; a writer of files without shared libraries and a native library, to be recorded
  mmdebstrap      # system files of Debian for an image, without a registry
  nodejs          # JSON and regular expressions as ECMAScript has them
  openssl         # certificates for registries that speak TLS on loopback
  podman          # images of environments of kind container
  runc            # starts containers where no cgroup may be made by systemd
  skopeo          # another client, which has to keep every digest
  slurm-wlm       # a cluster of one node
  strace          # the recorder's full level
  zstd            # reads the layers of bundles without us
)

missing=()
for package in "${packages[@]}"; do
  if [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" != installed ]; then
    missing+=("$package")
  fi
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "system packages: all installed (${packages[*]})"
  exit 0
fi
if ! command -v apt-get >/dev/null; then
  echo "system packages: no apt-get here; install these yourself: ${missing[*]}" >&2
  exit 3
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then as_root=(sudo); fi
export DEBIAN_FRONTEND=noninteractive
"${as_root[@]}" apt-get update -q
"${as_root[@]}" apt-get install -q -y --no-install-recommends "${missing[@]}"
