#!/usr/bin/env bash
# Brings the oras and cosign commands of Debian 13 into a folder of the cache, where the tests of
# signatures and referrers find them (tests/support/needs.py): Debian 12 has neither, and the
# binaries run there. Prints the folder. Quick when they are there already.
#
# The machine's own configuration of apt is read, never changed: the newer suite is asked of the
# same mirror, with lists, cache and sources in a folder of this script, and what comes is checked
# with Debian's keys as ever.
set -euo pipefail

suite=trixie
packages=(oras cosign)
place=${XDG_CACHE_HOME:-$HOME/.cache}/rra-tools/debian13
bin=$place/usr/bin

works() { "$1/usr/bin/oras" version >/dev/null 2>&1 && "$1/usr/bin/cosign" version >/dev/null 2>&1; }

if works "$place"; then
  echo "$bin"
  exit 0
fi
for tool in apt-get dpkg; do
  if ! command -v "$tool" >/dev/null; then
    echo "debian13 tools: no $tool here; put ${packages[*]} into $bin yourself" >&2
    exit 3
  fi
done

codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
  sed -n "s/ $codename main\$//p" | head -n 1)
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
if [ -z "$mirror" ] || [ ! -r "$keyring" ]; then
  echo "debian13 tools: the sources of apt name no Debian mirror that $suite could come from;" >&2
  echo "                put ${packages[*]} into $bin yourself" >&2
  exit 3
fi

mkdir -p "$(dirname "$place")"
work=$(mktemp -d "$(dirname "$place")/.new-XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists/partial,cache/archives/partial,sources.d,packages,root}
echo "deb [signed-by=$keyring] $mirror $suite main" >"$work/sources.list"
private=(
  -o "Dir::Etc::SourceList=$work/sources.list"
  -o "Dir::Etc::SourceParts=$work/sources.d"
  -o "Dir::Etc::Preferences=/dev/null"
  -o "Dir::Etc::PreferencesParts=$work/sources.d"
  -o "Dir::State::Lists=$work/lists"
  -o "Dir::State::Status=/dev/null"
  -o "Dir::Cache=$work/cache"
  -o "APT::Sandbox::User=$(id -un)" # its usual user could not write into this folder
  -o "Acquire::Languages=none"
)
apt-get "${private[@]}" update -qq >&2
(cd "$work/packages" && apt-get "${private[@]}" download -qq "${packages[@]}" >&2)
for package in "$work"/packages/*.deb; do
  dpkg -x "$package" "$work/root"
done
if ! works "$work/root"; then
  echo "debian13 tools: the binaries do not run on this machine" >&2
  exit 3
fi
rm -rf "$place"
mv -T "$work/root" "$place"
echo "$bin"
