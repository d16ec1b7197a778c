#!/usr/bin/env bash
# Run the linters and type checkers that a Python project is set up for.
[ -n "${BASH_VERSION:-}" ] || exec bash -- "$0" "$@" # where it was started by sh
set +o posix
set -euo pipefail

usage() {
  cat <<'HELP'
Usage: lint.sh [--list] [PROJECT]

Run the Python linters and type checkers that PROJECT (default: the current folder)
is set up for:

  ruff check    ruff.toml, .ruff.toml, or [tool.ruff] in pyproject.toml
  ruff format   checked only where a setting or a hook of ruff-format says so
  flake8        .flake8, or [flake8] in setup.cfg or tox.ini
  mypy          mypy.ini, .mypy.ini, [mypy] in setup.cfg, or [tool.mypy]
  pyright       pyrightconfig.json, or [tool.pyright]

Where none of ruff and flake8 is set up: ruff with its defaults, else pyflakes, else
each file is compiled, in memory.

Tools are taken from PROJECT/.venv or PROJECT/venv, else from PATH. Nothing is
installed, and no source file is changed, not even where a setting tells a tool to.
They run with your rights, and so do their plug-ins: lint only what you trust.

  --list      print what would run, one line each, and run nothing
  -h, --help  print this help

Exit status: 0 all clean, 1 a tool found something, 2 something could not be checked
(no such folder, or one that cannot be read; no Python file; a tool that is set up and
not installed).
HELP
}

list_only=false
project=
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --list) list_only=true ;;
    --) shift; break ;;
    -*) echo "lint.sh: unknown option $1; see lint.sh --help" >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
if [ $# -gt 1 ]; then
  echo "lint.sh: one project at a time; see lint.sh --help" >&2
  exit 2
fi
project=${1:-.}
case $project in -*) project=./$project ;; esac
if [ ! -d "$project" ]; then
  echo "lint.sh: no such folder: $project" >&2
  exit 2
fi
CDPATH='' cd -- "$project"

# --- what the project is set up for ------------------------------------------------

# has_section FILE NAME: the file has the table or section NAME, or one inside it.
has_section() {
  [ -f "$1" ] && WANTED=$2 awk '
    /^[ \t]*\[/ {
      line = $0
      sub(/^[ \t]*\[+[ \t]*/, "", line)
      sub(/[ \t]*\].*$/, "", line)
      wanted = ENVIRON["WANTED"]
      if (line == wanted || index(line, wanted ".") == 1) found = 1
    }
    END { exit !found }' "$1"
}

# has_key FILE NAME KEYS: the section NAME sets one of KEYS (an alternation).
has_key() {
  [ -f "$1" ] && WANTED=$2 KEYS="^[ \t]*($3)[ \t]*[=:]" awk '
    /^[ \t]*\[/ {
      line = $0
      sub(/^[ \t]*\[+[ \t]*/, "", line)
      sub(/[ \t]*\].*$/, "", line)
      inside = (line == ENVIRON["WANTED"])
      next
    }
    inside && $0 ~ ENVIRON["KEYS"] { found = 1 }
    END { exit !found }' "$1"
}

wants_ruff() {
  [ -f ruff.toml ] || [ -f .ruff.toml ] || has_section pyproject.toml tool.ruff
}
wants_ruff_format() {
  has_section pyproject.toml tool.ruff.format ||
    has_section ruff.toml format || has_section .ruff.toml format ||
    { [ -f .pre-commit-config.yaml ] &&
      grep -Eq '^[^#]*id:[[:space:]]*ruff-format' .pre-commit-config.yaml; }
}
wants_flake8() {
  [ -f .flake8 ] || has_section setup.cfg flake8 || has_section tox.ini flake8
}
# Such a list of the project holds; on the command line it would be overridden.
flake8_knows_exclude() {
  local file
  for file in setup.cfg tox.ini .flake8; do
    if has_key "$file" flake8 'exclude|extend[-_]exclude'; then return 0; fi
  done
  return 1
}
wants_mypy() {
  [ -f mypy.ini ] || [ -f .mypy.ini ] ||
    has_section setup.cfg mypy || has_section pyproject.toml tool.mypy
}
mypy_knows_files() {
  local keys='files|packages|modules'
  if [ -f mypy.ini ]; then has_key mypy.ini mypy "$keys"
  elif [ -f .mypy.ini ]; then has_key .mypy.ini mypy "$keys"
  elif has_section pyproject.toml tool.mypy; then
    has_key pyproject.toml tool.mypy "$keys"
  else has_key setup.cfg mypy "$keys"
  fi
}
wants_pyright() {
  [ -f pyrightconfig.json ] || has_section pyproject.toml tool.pyright
}

# --- running -------------------------------------------------------------------------

status=0
unclean=
missing=
ran=

# tool NAME: print where the tool is; fail where it is not installed.
tool() {
  local folder
  for folder in .venv/bin venv/bin .venv/Scripts venv/Scripts; do
    if [ -x "$folder/$1" ]; then
      printf '%s\n' "$PWD/$folder/$1"
      return 0
    fi
  done
  command -v "$1"
}

# run LABEL COMMAND...: run it, and note how it went.
run() {
  local label=$1
  shift
  ran="$ran$label, "
  if "$list_only"; then
    echo "$label"
    return 0
  fi
  echo "== $label"
  if "$@"; then return 0; fi
  unclean="$unclean$label, "
}

# run_tool LABEL NAME ARGUMENT...: run a tool, or note that it is missing.
run_tool() {
  local label=$1 name=$2 place
  shift 2
  if place=$(tool "$name"); then
    run "$label" "$place" "$@"
  else
    echo "lint.sh: $name is set up here and is not installed" >&2
    missing="$missing$name, "
  fi
}

files=()
unread=false
find_files() {
  local file
  while IFS= read -r -d '' file; do
    if [ "$file" = '!' ]; then unread=true; else files+=("$file"); fi
  done < <(find . -type d \( -name '.?*' -o -name venv -o -name node_modules \
    -o -name __pycache__ -o -name build -o -name dist \) -prune \
    -o -type f -name '*.py' -print0 || printf '!\0') # find prints no such path
}

# The two below are called by their names, through `run`. xargs splits what would be too
# long a command line, and fails where one of its commands does.
# shellcheck disable=SC2329
pyflakes_all() {
  printf '%s\0' "${files[@]}" | xargs -0 "$place"
}

# shellcheck disable=SC2329
compile_all() {
  printf '%s\0' "${files[@]}" | xargs -0 "$place" -I -c '
import sys

failed = False
for path in sys.argv[1:]:
    try:
        with open(path, "rb") as file:
            compile(file.read(), path, "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None) or 1
        message = getattr(error, "msg", error)
        print(f"{path}:{line}: {message}")
        failed = True
    except OSError as error:
        print(f"{path}:1: {error.strerror}")
        failed = True
sys.exit(failed)
'
}

find_files
if [ "${#files[@]}" -eq 0 ]; then
  echo "lint.sh: no Python file in $PWD" >&2
  exit 2
fi

read_only=(--no-fix --no-fix-only)
if wants_ruff; then run_tool "ruff check" ruff check "${read_only[@]}" .; fi
if wants_ruff_format; then run_tool "ruff format" ruff format --check .; fi
if wants_flake8; then
  if flake8_knows_exclude; then run_tool flake8 flake8 .
  else run_tool flake8 flake8 --extend-exclude .venv,venv,node_modules,build,dist .
  fi
fi
if ! wants_ruff && ! wants_flake8; then
  if place=$(tool ruff); then run "ruff check (defaults)" "$place" check "${read_only[@]}" .
  elif place=$(tool pyflakes); then run pyflakes pyflakes_all
  elif place=$(tool python3 || tool python); then run compile compile_all
  else
    echo "lint.sh: neither a linter nor Python is installed" >&2
    missing="python3, "
  fi
fi
if wants_mypy; then
  if mypy_knows_files; then run_tool mypy mypy --no-install-types
  else run_tool mypy mypy --no-install-types .
  fi
fi
if wants_pyright; then run_tool pyright pyright; fi

if [ -n "$missing" ] || "$unread"; then status=2; fi
if [ -n "$unclean" ]; then status=1; fi
if ! "$list_only"; then
  echo
  if [ -n "$unclean" ]; then echo "not clean: ${unclean%, }"; fi
  if [ -n "$missing" ]; then echo "not installed: ${missing%, }"; fi
  if "$unread"; then echo "not checked: a folder that cannot be read"; fi
  if [ "$status" -eq 0 ]; then echo "clean: ${ran%, }"; fi
fi
exit "$status"
