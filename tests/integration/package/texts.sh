#!/usr/bin/env bash
# texts.sh KILN: completions and manual pages have every command and option that --help has, and their
# readers take them.
set -eu
kiln=$1
fail() { echo "FAILED: $*" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for shell in bash zsh fish; do "$kiln" completions $shell >"$work/$shell"; done
"$kiln" man >"$work/kiln.1"

commands=$("$kiln" help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z]\+\) .*/\1/p')
[ "$(echo "$commands" | wc -w)" -ge 8 ] || fail "no commands in: $commands"
for command in $commands; do
  grep -q "kiln.-$command " "$work/kiln.1" || fail "kiln.1 lacks $command"
  "$kiln" man "$command" >"$work/kiln-$command.1"
  [ "$("$kiln" help "$command")" = "$("$kiln" "$command" --help)" ] || fail "help $command"
  for option in $("$kiln" "$command" --help | grep -oE '^ +(-[a-z],)?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
    grep -qe "^    $command)" "$work/bash" || fail "bash lacks $command"
    sed -n "/^    $command)/,/;;\$/p" "$work/bash" | grep -qe "$option" || fail "bash lacks $command $option"
    grep -qe "$option\\[" "$work/zsh" || fail "zsh lacks $option"
    grep -qe "from $command'.* -l ${option#--} " "$work/fish" || fail "fish lacks $command $option"
    sed 's/\\-/-/g' "$work/kiln-$command.1" | grep -qe "^.B .*$option" || fail "kiln-$command.1 lacks $option"
  done
done

for command in $commands; do
  usage=$("$kiln" "$command" --help | sed -n 's/^Usage: kiln [a-z]* *\[OPTIONS\] *//p')
  page=$(sed -n '/^\[.fIOPTIONS/{s/\\f[IR]//g; s/^\[OPTIONS\] *//; p}' "$work/kiln-$command.1" | sed 's/\\-/-/g')
  [ "$usage" = "$page" ] || fail "kiln-$command.1 takes '$page', --help '$usage'"
done

bash -n "$work/bash"
complete_bash() { # WORD...
  bash -c 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kiln; echo "${COMPREPLY[*]}"' - "$work/bash" "$@"
}
[ "$(complete_bash kiln bui)" = build ] || fail "bash: a command"
[ "$(complete_bash kiln plan --allow)" = --allow-missing ] || fail "bash: an option"
[ "$(complete_bash kiln build --emit ca)" = catalog ] || fail "bash: a value"
if command -v zsh >/dev/null; then zsh -n "$work/zsh"; fi
if command -v fish >/dev/null; then fish -n "$work/fish"; fi
if command -v mandoc >/dev/null; then mandoc -T lint -W error "$work"/*.1; fi
