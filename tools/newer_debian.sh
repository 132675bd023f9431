#!/usr/bin/env bash
# Unpacks packages of a newer Debian into a folder, installing nothing: newer_debian.sh SUITE FOLDER PACKAGE…
#
# The machine's own configuration of apt is read, never changed: the newer suite is asked of the
# same mirror, with lists, cache and sources in a folder of this script, and what comes is checked
# with Debian's keys as ever.
set -euo pipefail

suite=$1
target=$2
shift 2

for tool in apt-get dpkg; do
  if ! command -v "$tool" >/dev/null; then
    echo "newer Debian: no $tool here, so nothing of $suite can be had" >&2
    exit 3
  fi
done

codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
mirror=$(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
  sed -n "s/ $codename main\$//p" | head -n 1)
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
if [ -z "$mirror" ] || [ ! -r "$keyring" ]; then
  echo "newer Debian: the sources of apt name no Debian mirror that $suite could come from" >&2
  exit 3
fi

work=$(mktemp -d "$(dirname "$target")/.new-XXXXXX")
trap 'rm -rf "$work"' EXIT
mkdir -p "$work"/{lists/partial,cache/archives/partial,sources.d,packages}
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
(cd "$work/packages" && apt-get "${private[@]}" download -qq "$@" >&2)
mkdir -p "$target"
for package in "$work"/packages/*.deb; do
  dpkg -x "$package" "$target"
done
