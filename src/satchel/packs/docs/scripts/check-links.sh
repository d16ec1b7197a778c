#!/usr/bin/env bash
# Find relative links and anchors in Markdown files that lead nowhere.
[ -n "${BASH_VERSION:-}" ] || exec bash -- "$0" "$@" # where it was started by sh
set +o posix
set -euo pipefail
export LC_ALL=C

usage() {
  cat <<'HELP'
Usage: check-links.sh [--root DIR] [PATH ...]

Check the links of Markdown files (*.md, *.markdown): each PATH is a file or a folder
(default: the current one); dot-folders and node_modules inside it are passed by.

Checked are relative links and images, inline or as reference definitions:
  - the file or folder is there
  - an anchor (page.md#section, #section) is a heading of that page, as GitHub names
    it, or an id="..." or name="..." in it
Links in code are not links. Links to other sites are not followed: no network is used.

  --root DIR  look up links that begin with / from here; without it they are skipped
  -h, --help  print this help

Each finding is printed as path:line: what is wrong: the link.
Exit status: 0 no broken link, 1 broken links, 2 could not check.
Not seen: reference links without a definition; links in HTML tags; wrong letters
beyond ASCII in anchors.
HELP
}

root=
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --root)
      [ $# -gt 1 ] || { echo "check-links.sh: --root needs a folder" >&2; exit 2; }
      root=$2
      shift
      ;;
    --) shift; break ;;
    -*) echo "check-links.sh: unknown option $1; see --help" >&2; exit 2 ;;
    *) break ;;
  esac
  shift
done
if [ -n "$root" ] && [ ! -d "$root" ]; then
  echo "check-links.sh: no such folder: $root" >&2
  exit 2
fi
[ $# -gt 0 ] || set -- .

# --- one page ------------------------------------------------------------------------

# What both programs below share: `text` is set for each line that is not code.
# shellcheck disable=SC2016  # $0 is awk's, not the shell's
page='
FNR == 1 { sub(/^\357\273\277/, "") }
{ sub(/\r$/, "") }
FNR == 1 && $0 ~ /^---[ \t]*$/ { matter = 1; next }
matter { if ($0 ~ /^(---|\.\.\.)[ \t]*$/) matter = 0; next }
open_size {
  fence = $0
  sub(/^[ \t>]*/, "", fence)
  if (length($0) - length(fence) > open_at + 3 || !fenced(fence)) next
  if (mark == open_mark && size >= open_size && rest ~ /^[ \t]*$/) open_size = 0
  next
}
/^[ \t]*$/ { empty = 1; brackets = 0; last = ""; next }
# Four blanks make code, behind an empty line and outside a list.
!in_comment && !listed && (empty || FNR == 1) && /^(\t|    )/ { empty = 1; next }
{
  if ($0 ~ /^[ \t>]*([-*+]|[0-9]+[.)])[ \t]/) listed = 1
  else if (empty && $0 ~ /^[^ \t]/) listed = 0
  empty = 0
  fence = $0
  if (listed) sub(/^[ \t]*/, "", fence)
  sub(/^ ? ? ?((>|[-*+]|[0-9]+[.)])[ \t]+|>)*/, "", fence)
  if (!in_comment && fenced(fence) && !(mark == "`" && index(rest, "`"))) {
    open_mark = mark
    open_size = size
    open_at = length($0) - length(fence)
    last = ""
    next
  }
}

# Whether a line begins with three or more backticks or tildes.
function fenced(line) {
  if (!match(line, /^(```+|~~~+)/)) return 0
  mark = substr(line, 1, 1)
  size = RLENGTH
  rest = substr(line, size + 1)
  return 1
}
{ text = readable($0) }

# The line without comments, which may stretch over lines, and with "code" in the place
# of what is between backticks: neither has a meaning inside the other.
function readable(line,   out, at, size, tail, close_at) {
  out = ""
  while (line != "") {
    if (in_comment) {
      at = index(line, "-->")
      if (!at) return out
      in_comment = 0
      line = substr(line, at + 3)
    }
    if (!match(line, /\\[\\`<]|`+|<!--/)) return out line
    out = out substr(line, 1, RSTART - 1)
    tail = substr(line, RSTART + RLENGTH)
    size = RLENGTH
    at = substr(line, RSTART, 1)
    if (at == "\\") {
      if (substr(line, RSTART, 2) != "\\`") out = out substr(line, RSTART, 2)
    } else if (at == "<") in_comment = 1
    else if ((close_at = closed(tail, size))) {
      out = out code(substr(tail, 1, close_at - 1))
      tail = substr(tail, close_at + size)
    }
    line = tail
  }
  return out
}

# Where a run of just so many backticks begins, or 0.
function closed(tail, size,   from) {
  from = 0
  while (match(tail, /`+/)) {
    if (RLENGTH == size) return from + RSTART
    from += RSTART + RLENGTH - 1
    tail = substr(tail, RSTART + RLENGTH)
  }
  return 0
}
'

# Print "line<TAB>target" for each link of a page.
links_of() {
  awk "$page"'
  {
    gsub(/\\[][]/, "", text)
    if (match(text, /^ ? ? ?\[[^]]+\]:[ \t]*/) && text !~ /^ ? ? ?\[\^/) {
      rest = substr(text, RLENGTH + 1)
      out = target(rest)
      sub(/^(<[^>]*>|[^ \t]*)/, "", rest)
      # Anything but a title behind it, and it was a sentence.
      if (rest ~ /^[ \t]*(["\047(].*)?$/) print_target(out)
      next
    }
    while (match(text, /[][]/)) {
      letter = substr(text, RSTART, 1)
      text = substr(text, RSTART + 1)
      if (letter == "[") brackets++
      else if (brackets > 0) {
        brackets--
        if (match(text, /^\([ \t]*/)) print_target(target(substr(text, RLENGTH + 1)))
      }
    }
  }

  function code(words) { return "code" }

  function print_target(out) { if (out != "") print FNR "\t" out }

  # The target stands at the start, in <> or up to a blank or the closing bracket.
  function target(from,   at, depth, letter, out) {
    out = ""
    if (substr(from, 1, 1) == "<") {
      at = index(from, ">")
      if (at) out = substr(from, 2, at - 2)
    } else {
      depth = 0
      for (at = 1; at <= length(from); at++) {
        letter = substr(from, at, 1)
        if (letter == "\\" && substr(from, at + 1, 1) ~ /[!-\/:-@\[-`{-~]/) {
          out = out substr(from, ++at, 1)
          continue
        }
        if (letter == " " || letter == "\t") break
        if (letter == "(") depth++
        if (letter == ")" && depth-- == 0) break
        out = out letter
      }
    }
    return out
  }' <"$1"
}

# Print what a link to a page may end in, from its # on, one a line.
anchors_of() {
  awk "$page"'
  {
    rest = text
    while (match(rest, /(id|name)=("[^"]*"|\047[^\047]*\047)/)) {
      name = substr(rest, RSTART, RLENGTH)
      sub(/^[a-z]*=./, "", name)
      print "#" substr(name, 1, length(name) - 1)
      rest = substr(rest, RSTART + RLENGTH)
    }
    if (match(text, /^ ? ? ?#+([ \t]|$)/)) {
      heading(substr(text, RLENGTH + 1))
      last = ""
    } else if (text ~ /^ ? ? ?(=+|-+)[ \t]*$/ && last != "") {
      heading(last)
      last = ""
    } else last = (text ~ /^[ \t]*$/) ? "" : text
  }

  function heading(words,   slug) {
    sub(/[ \t]+#+[ \t]*$/, "", words)
    if (match(words, /[ \t]*\{#[^}]+\}[ \t]*$/)) {
      slug = substr(words, RSTART, RLENGTH)
      gsub(/^[ \t]*\{#|\}[ \t]*$/, "", slug)
      print "#" slug
      words = substr(words, 1, RSTART - 1)
    }
    while (match(words, /\]\([^)]*\)/))
      words = substr(words, 1, RSTART - 1) substr(words, RSTART + RLENGTH)
    gsub(/<[^>]*>/, "", words)
    gsub(/&[a-z]+;/, "", words)
    gsub(/^[ \t]+|[ \t]+$/, "", words)
    anchor(words)
    # Without the marks of _emphasis_; names such as `__init__` keep theirs.
    if (gsub(/(^|[ \t])_+/, " ", words) + gsub(/_+([ \t]|$)/, " ", words)) {
      gsub(/^[ \t]+|[ \t]+$/, "", words)
      anchor(words)
    }
  }

  function anchor(words,   slug, number) {
    slug = tolower(words)
    gsub(/\t/, " ", slug)
    gsub(/[!-,.\/:-@\[-^`{-~]/, "", slug)
    gsub(/ /, "-", slug)
    number = seen[slug]++
    if (number) slug = slug "-" number
    # No awk can be trusted to know the capitals of other alphabets.
    gsub(/[\200-\377]/, "", slug)
    print "#" slug
  }

  # What a slug loses anyway has no meaning in code.
  function code(words) {
    gsub(/[!-,.\/:-@\[-^`{-~]/, "", words)
    return words
  }
  ' <"$1"
}

# has_anchor PAGE ANCHOR: the page has a heading, or an element, of that name.
# The anchors of the latest pages are kept: many links lead to the same few.
kept_pages=()
kept_anchors=()
kept_next=0
has_anchor() {
  local at found= ascii=${2//[! -~]/}
  for ((at = 0; at < ${#kept_pages[@]}; at++)); do
    if [ "${kept_pages[at]}" = "$1" ]; then found=$at; fi
  done
  if [ -z "$found" ]; then
    found=$kept_next
    kept_next=$(((kept_next + 1) % 64))
    kept_pages[found]=$1
    kept_anchors[found]=$'\n'$(anchors_of "$1")$'\n'
  fi
  case ${kept_anchors[found]} in
    *$'\n#'"$2"$'\n'* | *$'\n#'"$ascii"$'\n'*) return 0 ;;
  esac
  return 1
}

# --- one link ------------------------------------------------------------------------

# decoded TEXT: print it with %20 and the like as what they stand for.
decoded() {
  case $1 in
    *%*) WANTED=$1 awk 'BEGIN {
      text = ENVIRON["WANTED"]
      digits = "0123456789abcdef"
      while (match(text, /%[0-9A-Fa-f][0-9A-Fa-f]/)) {
        high = index(digits, tolower(substr(text, RSTART + 1, 1))) - 1
        low = index(digits, tolower(substr(text, RSTART + 2, 1))) - 1
        printf "%s%c", substr(text, 1, RSTART - 1), high * 16 + low
        text = substr(text, RSTART + 3)
      }
      printf "%s", text
    }' ;;
    *) printf '%s' "$1" ;;
  esac
}

pages=0
links=0
broken=0
unread=0

# tell PAGE LINE WHAT LINK
tell() {
  printf '%s:%s: %s: %s\n' "$1" "$2" "$3" "$4"
  broken=$((broken + 1))
}

check_link() {
  local file=$1 line=$2 link=$3 path anchor= scheme=${3%%[!A-Za-z0-9+.-]*}
  case $link in
    //*) return 0 ;;
    "$scheme":*) return 0 ;;
    /*) [ -n "$root" ] || return 0 ;;
  esac
  links=$((links + 1))
  path=${link%%#*}
  path=${path%%\?*}
  case $link in *'#'*) anchor=${link#*#} ;; esac
  case $link in *%*) path=$(decoded "$path") anchor=$(decoded "$anchor") ;; esac
  case $path in
    '') path=$file ;;
    /*) path=$root$path ;;
    *) case $file in */*) path=${file%/*}/$path ;; esac ;;
  esac
  if [ ! -e "$path" ]; then
    tell "$file" "$line" "no such file" "$link"
    return 0
  fi
  case $anchor in '' | top) return 0 ;; esac
  case $path in
    *.md | *.markdown)
      if [ -f "$path" ] && readable "$path" && ! has_anchor "$path" "$anchor"; then
        tell "$file" "$line" "no such heading" "$link"
      fi
      ;;
  esac
}

# readable PAGE: tell of it otherwise, and remember that.
readable() {
  if [ -r "$1" ]; then return 0; fi
  echo "check-links.sh: cannot be read: $1" >&2
  unread=$((unread + 1))
  return 1
}

check_page() {
  local file=$1 line link
  readable "$file" || return 0
  pages=$((pages + 1))
  while IFS=$'\t' read -r line link; do
    check_link "$file" "$line" "$link"
  done < <(links_of "$file")
}

# Print the pages below a folder, each with a NUL behind it; and a `!`, which none of them
# is, where a folder could not be read.
pages_in() {
  find -H "$1" -mindepth 1 -type d \( -name '.?*' -o -name node_modules \) -prune \
    -o -type f \( -name '*.md' -o -name '*.markdown' \) -print0 || printf '!\0'
}

for path in "$@"; do
  case $path in -*) path=./$path ;; esac
  if [ -d "$path" ]; then
    while IFS= read -r -d '' file; do
      if [ "$file" = '!' ]; then unread=$((unread + 1)); else check_page "$file"; fi
    done < <(pages_in "$path" | sort -z)
  elif [ -f "$path" ]; then
    check_page "$path"
  else
    echo "check-links.sh: no such file or folder: $path" >&2
    exit 2
  fi
done

echo "check-links.sh: $broken broken of $links links in $pages pages" >&2
[ "$broken" -eq 0 ] || exit 1
[ "$pages" -gt 0 ] && [ "$unread" -eq 0 ] || exit 2
