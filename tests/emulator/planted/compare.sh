#!/usr/bin/env bash
# Compares the output of a program with a golden file, except for what the compiler decides:
# addresses, instructions, lines, and which of many threads is named first.
# usage: compare.sh GOLDEN PROGRAM [WORD]...      KILN_UPDATE_GOLDEN=1 rewrites the golden file
set -uo pipefail
golden=$1
shift
said=$("$@" 2>&1 | sed -E \
  -e 's/at 0x[0-9a-f]+: .*/at {address}: {instruction}/' \
  -e 's/note: from .*/note: from {line}/' \
  -e 's/(wave|lane|byte) [0-9]+/\1 {number}/g' \
  -e 's/\([0-9]+,[0-9]+,[0-9]+\)/({number})/g')
if [ "${KILN_UPDATE_GOLDEN:-}" = 1 ]; then
  printf '%s\n' "$said" >"$golden"
else
  diff "$golden" - <<<"$said"
fi
