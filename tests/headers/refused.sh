#!/usr/bin/env bash
# refused.sh SOURCE COMPILER OPTION...: checks that a compiler refuses each statement of SOURCE that has
# a comment `// error: TEXT`, and no other. Its output must name the line, and have the TEXT, a regular
# expression.
set -eu
source=$1
shift
limit=()
[[ $1 != *clang* ]] || limit=(-ferror-limit=0) # otherwise 20
# Without the lines of SOURCE that compilers repeat: they contain the texts.
output=$(LC_ALL=C "$@" "${limit[@]}" -fsyntax-only "$source" 2>&1 | grep -v '// error: ' || true)

status=0
marked=$(grep -n '// error: ' "$source" | grep -v '^[0-9]*://' | cut -d : -f 1)
named=$(grep -o "^[^ ]*$(basename "$source"):[0-9]*" <<<"$output" | sed 's/.*://' | sort -nu)
while read -r line; do
  text=$(sed -n "$line s,.*// error: ,,p" "$source")
  grep -qx "$line" <<<"$named" || { echo "FAILED: line $line compiles, or hides behind another"; status=1; }
  grep -qE "$text" <<<"$output" || { echo "FAILED: line $line: nothing says '$text'"; status=1; }
done <<<"$marked"
for line in $(comm -23 <(sort <<<"$named") <(sort <<<"$marked")); do
  echo "FAILED: line $line is refused"
  status=1
done
[ $status = 0 ] || echo "$output"
exit $status
