#!/usr/bin/env bash
# Launcher batting. Start it from anywhere: bash launchers/batting.sh
# Averages and Stein's estimates of the 18 players against the rest of 1970.
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
RRA_OUTPUTS_ROOT=${RRA_OUTPUTS_ROOT:-$root/outputs}
mkdir -p -- "$RRA_OUTPUTS_ROOT"
RRA_OUTPUTS_ROOT=$(cd -- "$RRA_OUTPUTS_ROOT" && pwd -P)
if [ -z "${RRA_OUTPUT_DIR:-}" ]; then
  RRA_OUTPUT_DIR=$RRA_OUTPUTS_ROOT/batting
  rm -rf -- "$RRA_OUTPUT_DIR"
fi
mkdir -p -- "$RRA_OUTPUT_DIR"
RRA_OUTPUT_DIR=$(cd -- "$RRA_OUTPUT_DIR" && pwd -P)
RRA_DATA_DIR=${RRA_DATA_DIR:-$root/data}
export RRA_OUTPUTS_ROOT RRA_OUTPUT_DIR RRA_DATA_DIR

if ! command -v python >/dev/null 2>&1; then
  printf '%s\n' 'launchers/batting.sh: there is no python on PATH; environment/cpu/README.md says how to set it up' >&2
  exit 69
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/rra-batting.XXXXXX")
trap 'chmod -R u+w "$work"; rm -rf -- "$work"' EXIT
by_hand=
if [ -z "${RRA_CODE_DIR:-}" ]; then
  by_hand=yes
  RRA_CODE_DIR=$work/code
  mkdir -- "$RRA_CODE_DIR"
  shopt -s dotglob nullglob
  for item in "$root"/code/*; do
    case ${item##*/} in
      .git) ;;
      *) cp -RPp -- "$item" "$RRA_CODE_DIR"/ ;;
    esac
  done
  shopt -u dotglob nullglob
fi
export RRA_CODE_DIR
cd -- "$RRA_CODE_DIR"

run() {
  python baseball.py
}

# Files of the copy that this run wrote (not those that were there) → places in the outputs.
take() {
  find . -type f \( -path "./$1" -o -path "./$1/*" \) -cnewer "$work/started" -print0 |
    while IFS= read -r -d '' file; do
      case $file in
        "./$1") place=$2 ;;
        "./$1"/*) place=${2%/}/${file#"./$1/"} ;;
        *) place=${2%/}/${file##*/} ;;
      esac
      mkdir -p -- "$(dirname -- "$RRA_OUTPUT_DIR/$place")"
      mv -f -- "$file" "$RRA_OUTPUT_DIR/$place"
    done
}
collect() {
  take summary.csv summary.csv
  take estimates.csv estimates.csv
}

: >"$work/started"
# What is written from here on is newer than that mark, also on a coarse clock.
until : >"$work/now" && [ "$work/now" -nt "$work/started" ]; do sleep 0.01; done
if [ -n "$by_hand" ]; then
  run | tee -- "$RRA_OUTPUT_DIR/stdout.txt"
else
  run
fi
collect
