#!/usr/bin/env bash
# Launcher analysis. Start it from anywhere: bash launchers/analysis.sh
set -euo pipefail

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
RRA_OUTPUTS_ROOT=${RRA_OUTPUTS_ROOT:-$root/outputs}
mkdir -p -- "$RRA_OUTPUTS_ROOT"
RRA_OUTPUTS_ROOT=$(cd -- "$RRA_OUTPUTS_ROOT" && pwd -P)
if [ -z "${RRA_OUTPUT_DIR:-}" ]; then
  RRA_OUTPUT_DIR=$RRA_OUTPUTS_ROOT/analysis
  rm -rf -- "$RRA_OUTPUT_DIR"
fi
mkdir -p -- "$RRA_OUTPUT_DIR"
RRA_OUTPUT_DIR=$(cd -- "$RRA_OUTPUT_DIR" && pwd -P)
RRA_DATA_DIR=${RRA_DATA_DIR:-$root/data}
export RRA_OUTPUTS_ROOT RRA_OUTPUT_DIR RRA_DATA_DIR

if ! command -v python >/dev/null 2>&1; then
  printf '%s\n' 'launchers/analysis.sh: there is no python on PATH; environment/cpu/README.md says how to set it up' >&2
  exit 69
fi

run() {
  python -m nbconvert --to notebook --execute analysis.ipynb --output analysis.executed.ipynb
  python -c 'import json, sys
for cell in json.load(open(sys.argv[1], encoding="utf-8"))["cells"]:
    for out in cell.get("outputs", []):
        text = out.get("text") or out.get("data", {}).get("text/plain") or ""
        print("".join(text))
' analysis.executed.ipynb
}

if [ -n "${RRA_CODE_DIR:-}" ]; then
  # rra has made a private copy of the code, keeps what is printed, and collects.
  cd -- "$RRA_CODE_DIR"
  run
  exit 0
fi

# By hand: the same in a copy that is made here and removed at the end.
work=$(mktemp -d "${TMPDIR:-/tmp}/rra-analysis.XXXXXX")
trap 'chmod -R u+w "$work"; rm -rf -- "$work"' EXIT
export RRA_CODE_DIR="$work/code"
mkdir -- "$RRA_CODE_DIR"
shopt -s dotglob nullglob
for item in "$root"/code/*; do
  case ${item##*/} in
    .git) ;;
    *) cp -RPp -- "$item" "$RRA_CODE_DIR"/ ;;
  esac
done
cd -- "$RRA_CODE_DIR"

# take PATTERN FOLDER PLACE: files of the copy that this run wrote, not those that were there.
take() {
  local IFS= found file place
  for found in $1; do
    [ -e "$found" ] || continue
    find "./$found" -type f -cnewer "$work/started" -print0 |
      while IFS= read -r -d '' file; do
        place=${3%/}/${file#"./$2"}
        if [ "$file" = "./$1" ]; then
          case $3 in */) place=$3${file##*/} ;; *) place=$3 ;; esac
        fi
        mkdir -p -- "$(dirname -- "$RRA_OUTPUT_DIR/$place")"
        mv -f -- "$file" "$RRA_OUTPUT_DIR/$place"
      done
  done
}

: >"$work/started"
# What is written from here on is newer than that mark, also on a coarse clock.
until : >"$work/now" && [ "$work/now" -nt "$work/started" ]; do sleep 0.01; done
run | tee -- "$RRA_OUTPUT_DIR/stdout.txt"
shopt -s globstar 2>/dev/null || true
take analysis.executed.ipynb analysis.executed.ipynb/ analysis.executed.ipynb
