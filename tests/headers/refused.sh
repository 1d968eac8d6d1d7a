#!/usr/bin/env bash
# refused.sh SOURCE COMPILER OPTION...: checks that a compiler refuses each statement of SOURCE that has
# a comment `// error: TEXT`, and no other. One error must name the line and have the TEXT, a regular
# expression.
set -eu
source=$1
shift
limit=()
[[ $1 != *clang* ]] || limit=(-ferror-limit=0) # otherwise 20
! output=$(LC_ALL=C "$@" "${limit[@]}" -fsyntax-only "$source" 2>&1) || output=

# An error consists of the lines before it that say where it is (of GNU, also what is instantiated),
# the line with the word, and the notes that follow. Without the lines of SOURCE that compilers repeat:
# they contain the texts.
awk -v name="$(basename "$source")" '
  function end_error(  i, line) {
    for (i = 1; i <= count; ++i) {
      if (match(lines[i], "^[^ ]*" name ":[0-9]+")) {
        line = substr(lines[i], 1, RLENGTH)
        sub(/.*:/, "", line)
        refused[line] = 1
        if (line in text && has_error && error ~ text[line]) said[line] = 1
      }
    }
    count = has_error = 0
    error = ""
  }
  function fail(message) { print "FAILED: line " message; failed = 1 }

  FNR == NR {
    if (index($0, "// error: ") > 1 && $0 !~ /^\/\//) text[FNR] = substr($0, index($0, "// error: ") + 10)
    next
  }
  index($0, "// error: ") { next }
  has_error && (/ error: / || /^In file included from / || /: In / || /: At global scope/) { end_error() }
  { lines[++count] = $0; error = error $0 "\n" }
  / error: / { has_error = 1 }

  END {
    end_error()
    for (line in text) {
      if (!(line in refused)) fail(line " compiles, or hides behind another")
      else if (!(line in said)) fail(line ": no error there says \"" text[line] "\"")
    }
    for (line in refused) if (!(line in text)) fail(line " is refused")
    exit failed
  }' "$source" <(echo "$output") || { echo "$output"; exit 1; }
