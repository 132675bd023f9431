#!/usr/bin/env bash
# Brings Apptainer of Debian unstable, which no release of Debian has, into a folder of the cache,
# where the tests of it find it (tests/support/needs.py). Prints the folder. Quick when it is there
# already. Needs root, and a kernel with overlays.
#
# Nothing is installed: the command that lies in the folder starts Apptainer in a mount namespace of
# its own, where its files and the libraries that they need lie over those of the machine.
set -euo pipefail

packages=(apptainer libc6 libseccomp2 libsqlite3-0 squashfs-tools liblzo2-2)
here=$(cd "$(dirname "$0")" && pwd)
place=${XDG_CACHE_HOME:-$HOME/.cache}/rra-tools/apptainer
bin=$place/bin

works() { "$1/bin/apptainer" --version >/dev/null 2>&1; }

if works "$place"; then
  echo "$bin"
  exit 0
fi
mkdir -p "$(dirname "$place")"
work=$(mktemp -d "$(dirname "$place")/.new-XXXXXX")
trap 'rm -rf "$work"' EXIT
"$here/newer_debian.sh" sid "$work/root" "${packages[@]}"
# Where this build of it, found through a link, keeps the root of what it enters.
mkdir -p "$work"/root/{bin,usr/lib/var/lib/apptainer/mnt/session}
cat >"$work/root/bin/apptainer" <<'COMMAND'
#!/bin/sh
root=$(dirname "$(dirname "$(readlink -f "$0")")")
# shellcheck disable=SC2016
exec unshare --mount sh -c '
  mount -t overlay overlay -o "lowerdir=$0/etc:/etc" /etc &&
  mount -t overlay overlay -o "lowerdir=$0/usr:/usr" /usr &&
  exec /usr/bin/apptainer "$@"' "$root" "$@"
COMMAND
chmod 755 "$work/root/bin/apptainer"
if ! works "$work/root"; then
  echo "apptainer: it does not run on this machine" >&2
  exit 3
fi
rm -rf "$place"
mv -T "$work/root" "$place"
echo "$bin"
