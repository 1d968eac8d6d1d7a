#!/usr/bin/env bash
# Checks every #include of the project against includes.txt.
# usage: includes.sh SOURCE_FOLDER
set -euo pipefail
table=$(dirname "$(readlink -f "$0")")/includes.txt
cd "$1"
folders=()
for folder in base emulator formats generator host kernels ops runtime tools; do
  [ ! -d "$folder" ] || folders+=("$folder")
done

# Prints FILE LINE "name" or <name> for every include of kiln's own code. Tests may include
# anything.
list_includes() {
  grep -rnoE --include='*.hpp' --include='*.cpp' --include='*.cu' --include='*.cuh' \
    '^[[:space:]]*#[[:space:]]*include[[:space:]]*[<"][^>"]+[>"]' \
    "${folders[@]}" |
    sed -E 's/^([^:]+):([0-9]+):.*include[[:space:]]*/\1 \2 /'
}

list_includes | awk -v table="$table" '
  function starts(text, start) { return substr(text, 1, length(start)) == start }
  # True for a file in a folder, or for a file whose name continues with an ending: "tools/cli" fits
  # tools/cli.hpp.
  function fits(path, name) {
    return starts(path, name) && substr(path, length(name) + 1, 1) ~ /^[\/.]?$/ || starts(path, name "_")
  }
  function folder(path) { sub(/\/[^\/]*$/, "", path); return path }

  BEGIN {
    while ((getline line < table) > 0) {
      sub(/#.*/, "", line)
      n = split(line, word, " ")
      for (i = 2; i <= n; ++i) allowed[word[1]] = allowed[word[1]] " " word[i]
    }
  }

  function lists(row, path,    n, word, i) {
    n = split(allowed[row], word, " ")
    for (i = 1; i <= n; ++i) if (fits(path, word[i])) return 1
    return 0
  }
  function complain(why) {
    printf "%s:%d: includes %s: %s\n", $1, $2, $3, why
    bad = 1
  }

  {
    ++checked
    name = substr($3, 2, length($3) - 2)
    if ($3 ~ /^</ && name !~ /^kiln\//) {
      for (row in allowed)
        if (row ~ /^</ && starts($3, row) && !lists(row, $1)) complain("only" allowed[row] " may")
      next
    }
    best = ""
    for (row in allowed)
      if (row !~ /^</ && fits($1, row) && length(row) > length(best)) best = row
    if (best == "") { complain("no row of includes.txt is about this file"); next }
    target = name ~ /^kiln\/ops[\/.]/ ? "ops/include" : starts(name, "kiln/") ? "kiln" : name
    if (starts($1, "kernels/") && name ~ /\//) target = "kernels/" name  # device code has its own root
    if (target !~ /\//  && target != "kiln") target = folder($1) "/" target
    if (folder(target) != folder($1) && !fits(target, best) && !lists(best, target))
      complain("'\''" best "'\'' may include" allowed[best])
  }
  END {
    if (checked == 0) { print "no include was found: is this the source folder?"; exit 1 }
    printf "%d includes checked\n", checked
    exit bad
  }'
