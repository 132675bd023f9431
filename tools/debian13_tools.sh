#!/usr/bin/env bash
# Brings the oras and cosign commands of Debian 13 into a folder of the cache, where the tests of
# signatures and referrers find them (tests/support/needs.py): Debian 12 has neither, and the
# binaries run there. Prints the folder. Quick when they are there already.
set -euo pipefail

packages=(oras cosign)
here=$(cd "$(dirname "$0")" && pwd)
place=${XDG_CACHE_HOME:-$HOME/.cache}/rra-tools/debian13
bin=$place/usr/bin

works() { "$1/usr/bin/oras" version >/dev/null 2>&1 && "$1/usr/bin/cosign" version >/dev/null 2>&1; }

if works "$place"; then
  echo "$bin"
  exit 0
fi
mkdir -p "$(dirname "$place")"
work=$(mktemp -d "$(dirname "$place")/.new-XXXXXX")
trap 'rm -rf "$work"' EXIT
if ! "$here/newer_debian.sh" trixie "$work/root" "${packages[@]}"; then
  echo "debian13 tools: put ${packages[*]} into $bin yourself" >&2
  exit 3
fi
if ! works "$work/root"; then
  echo "debian13 tools: the binaries do not run on this machine" >&2
  exit 3
fi
rm -rf "$place"
mv -T "$work/root" "$place"
echo "$bin"
