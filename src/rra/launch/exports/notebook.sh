
# copy_code FOLDER NAME...: a private copy of the code, without those names, to work in.
copy_code() {
  local code=$root/$1 item
  shift
  export RRA_CODE_DIR=$work/code
  mkdir -- "$RRA_CODE_DIR"
  shopt -s dotglob nullglob
  for item in "$code"/*; do
    case " $* " in
      *" ${item##*/} "*) ;;
      *) cp -RPp -- "$item" "$RRA_CODE_DIR/" ;;
    esac
  done
  shopt -u dotglob nullglob
  printf '%s' "$runner" >"$work/run_notebook.py"
  cd -- "$RRA_CODE_DIR"
}
