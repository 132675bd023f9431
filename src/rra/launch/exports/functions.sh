# The functions that every task below is made of. They need bash, coreutils and find.
set -euo pipefail
unset rra_functions MAKEFLAGS MFLAGS MAKELEVEL
fail() { printf '%s: %s\n' "$task" "$1" >&2; exit 1; }

# begin TASK STAMP VARIABLE: an empty output directory; VARIABLE holds the folder of the programs.
begin() {
  task=$1 stamp=$2 programs=${!3:-}
  [ -f rra.yaml ] || fail 'start this in the folder of the artifact, where rra.yaml is'
  root=$(pwd -P)
  mkdir -p outputs
  work=$(mktemp -d "$root/outputs/.export.XXXXXX")
  trap 'chmod -R u+w "$work"; rm -rf -- "$work"' EXIT
  rm -rf -- "${stamp%/*}"
  unset "${!RRA_PARAM_@}" "${!LC_@}" RRA_CODE_DIR RRA_SEED RRA_SMOKE
  export LANG=C.UTF-8
  printf 'running %s\n' "$task"
}

# give NAME VALUE: a variable of the launcher.
give() { export "$1=$2"; }

# secret NAME: a variable that has to be there already.
secret() { [ -n "${!1:-}" ] || fail "it needs a secret: export $1"; }

# contract PARAMETERS: the variables that every launcher gets; PARAMETERS is JSON.
contract() {
  printf '%s\n' "$1" >"$work/parameters.json"
  RRA_NONCE=$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')
  RRA_PARAMETERS=$work/parameters.json RRA_DATA_DIR=$root/data
  RRA_OUTPUTS_ROOT=$work/outputs RRA_OUTPUT_DIR=$work/outputs/$task
  export RRA_NONCE RRA_PARAMETERS RRA_DATA_DIR RRA_OUTPUTS_ROOT RRA_OUTPUT_DIR
  if [ -n "$programs" ]; then
    programs=$(cd -- "$programs" && pwd) || fail 'the folder of its programs is not there'
    export PATH="$programs:$PATH"
  fi
  mkdir -p -- "$RRA_OUTPUT_DIR"
}

# need PLACE TASK: a copy of the outputs of another task, without those of its other instances.
need() {
  local place=$RRA_OUTPUTS_ROOT/$1 mark
  [ -d "outputs/$2" ] || fail "it needs the outputs of $2, and there are none"
  mkdir -p -- "$place"
  cp -RPp -- "outputs/$2/." "$place/"
  rm -f -- "$place/.rra-instance"
  for mark in "$place"/*/.rra-instance; do
    if [ -f "$mark" ]; then rm -rf -- "${mark%/*}"; fi
  done
}

# start SECONDS COMMAND...: run it, at most that long; 0 is no limit.
start() {
  local limit=$1 status=0
  shift
  if command -v timeout >/dev/null; then
    set -- timeout --signal=TERM --kill-after=60 "$limit" "$@"
  elif [ "$limit" != 0 ]; then
    printf '%s: there is no timeout here, so nothing ends it after %s s\n' "$task" "$limit" >&2
  fi
  "$@" </dev/null >"$work/stdout.txt" 2>"$work/stderr.txt" &
  child=$!
  trap 'kill -TERM "$child" 2>/dev/null; wait "$child" || true; exit 143' TERM INT HUP
  wait "$child" || status=$?
  trap - TERM INT HUP
  [ "$status" != 0 ] || return 0
  tail -n 20 "$work/stdout.txt" "$work/stderr.txt" >&2
  if [ "$limit" != 0 ] && [ "$status" = 124 ]; then fail "it was ended after $limit s"; fi
  fail "it ended with status $status"
}

# left NAME EXPRESSION: a required output has to be there.
left() {
  local LC_ALL=C.UTF-8 file
  while IFS= read -r -d '' file; do
    if [[ ${file#./} =~ $2 ]]; then return 0; fi
  done < <(cd -- "$RRA_OUTPUT_DIR" && find . -type f -print0)
  tail -n 20 "$work/stdout.txt" "$work/stderr.txt" >&2
  fail "it did not leave $1"
}

# finish: replace the outputs of an earlier run, and say with the stamp that all is there.
finish() {
  local target=$root/outputs/$task mark
  cd -- "$root"
  mv -f -- "$work/stdout.txt" "$work/stderr.txt" "$RRA_OUTPUT_DIR/"
  case $task in
    */*) : >"$RRA_OUTPUT_DIR/.rra-instance" ;;
    *)
      for mark in "$target"/*/.rra-instance; do
        if [ -f "$mark" ]; then mv -- "${mark%/*}" "$RRA_OUTPUT_DIR/"; fi
      done
      ;;
  esac
  mkdir -p -- "${target%/*}" "${stamp%/*}"
  rm -rf -- "$target"
  mv -- "$RRA_OUTPUT_DIR" "$target"
  : >"$stamp"
  printf 'done %s\n' "$task"
}
