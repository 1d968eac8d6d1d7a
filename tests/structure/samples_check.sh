#!/usr/bin/env bash
# Checks that the samples of README.md and docs/ check each kiln::Result before they use it.
# usage: samples_check.sh SOURCE_FOLDER
set -euo pipefail
cd "$1"
awk '
  FNR == 1 { inside = 0 }
  /^```/ { inside = !inside && /^```cpp/; delete unchecked; next }
  !inside { next }
  match($0, /if \(!?[a-z_]+[);]/) { name = substr($0, RSTART, RLENGTH); gsub(/if \(|!|[);]/, "", name); delete unchecked[name] }
  {
    for (name in unchecked) {
      if (match($0, "(^|[^a-z_])(\\*" name "|" name "->)")) {
        printf "%s:%d: %s is used without a check\n", FILENAME, FNR, name
        failed = 1
      }
    }
  }
  match($0, /auto [a-z_]+ = .*(Runtime::open|->(default_device|device|upload|upload_async|allocate|allocate<[a-z]+>|allocate_pinned<[a-z]+>|function|launch|get_or_load_func|get_or_load_func_raw|create_stream|download|download<[a-z]+>))\(/) {
    name = $0; sub(/.*auto /, "", name); sub(/ .*/, "", name); unchecked[name] = 1
  }
  END { exit failed }
' README.md docs/*.md
