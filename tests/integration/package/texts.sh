#!/usr/bin/env bash
# texts.sh KILN: completions and manual pages have every command and option of --help, and shells
# and man can read them.
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
# Completions that come from files.
cat >"$work/targets.json" <<'END'
{"format": 1, "name": "t", "targets": ["sm_90", "gfx90a:xnack+", "gfx90a:xnack-", "$(touch x)"],
 "modules": [{"name": "affine", "targets": ["host:wave64"]}, {"name": "fill"}, {"name": "find"}, 7]}
END
mkdir "$work/out" "$work/a folder"
echo '{"targets": ["compute_80"], "modules": [{"name": "built"}]}' >"$work/out/kiln.json"
echo '{"targets": ["sm_75"]}' >"$work/a folder/other.json"
complete_here() { (cd "$work" && complete_bash "$@"); }
same() { # WHAT EXPECTED FOUND
  [ "$2" = "$3" ] || fail "bash: $1: $3"
}
same targets 'gfx90a:xnack+ gfx90a:xnack- host:wave64 sm_90' "$(complete_here "$kiln" build --target '')"
same 'a target' sm_90 "$(complete_here "$kiln" build --out out --target sm)"
same 'an option with =' sm_90 "$(complete_here "$kiln" build --target = s)"
same 'the rest of a target' 'xnack+ xnack-' "$(complete_here "$kiln" build --target gfx90a : x)"
same 'the rest of nothing' 'xnack+ xnack-' "$(complete_here "$kiln" build --target gfx90a :)"
same 'a flag with =' 'beside' "$(complete_here "$kiln" build --embed-source = b)"
same 'a word after that flag' targets.json "$(complete_here "$kiln" build --embed-source targ)"
same modules 'fill find' "$(complete_here "$kiln" plan --target sm_90 --module 'fi')"
same 'another manifest' sm_75 "$(complete_here "$kiln" build 'a\ folder/other.json' --target '')"
same 'targets of a build' compute_80 "$(complete_here "$kiln" strip out --keep '')"
same 'no manifest' '' "$(complete_here "$kiln" build nothing.json --target '')"
same 'a file' 'targets.json' "$(complete_here "$kiln" build targ)"
same 'a file with a blank' 'a folder' "$(complete_here "$kiln" build 'a f')"
cat >"$work/image.ptx" <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 scale_param_0)
{
  ret;
}
.visible .entry shift(.param .u64 shift_param_0)
{
  ret;
}
END
same kernels 'scale shift' "$(complete_here "$kiln" run image.ptx s)"
same 'files after the kernel' targets.json "$(complete_here "$kiln" run image.ptx scale targ)"
[ ! -e "$work/x" ] || fail "a target was run as a command"
if command -v zsh >/dev/null; then
  zsh -n "$work/zsh"
  found=$(cd "$work" && zsh -fc 'file=$1 words=("$2" build --out out --target "") CURRENT=6
    compadd() { print -r -- ${(P)@[-1]}; }
    _arguments() { _kiln_ask targets; }
    source $file' - "$work/zsh" "$kiln")
  [ "$found" = 'gfx90a:xnack+ gfx90a:xnack- host:wave64 sm_90' ] || fail "zsh: targets: $found"
fi
if command -v fish >/dev/null; then
  fish -n "$work/fish"
  complete_fish() { # LINE
    (cd "$work" && PATH=$(dirname "$kiln"):$PATH HOME=$work fish -c "source fish; complete -C '$1'" | cut -f1 | paste -sd' ')
  }
  [ "$(complete_fish 'kiln build --target ')" = 'gfx90a:xnack+ gfx90a:xnack- host:wave64 sm_90' ] ||
    fail "fish: targets: $(complete_fish 'kiln build --target ')"
  [ "$(complete_fish 'kiln plan targets.json --module fi')" = 'fill find' ] || fail "fish: modules"
  [ "$(complete_fish 'kiln strip out --keep ')" = compute_80 ] || fail "fish: targets of a build"
  case " $(complete_fish 'kiln run image.ptx s') " in *' scale shift '*) ;; *) fail "fish: kernels" ;; esac
fi
if command -v mandoc >/dev/null; then mandoc -T lint -W error "$work"/*.1; fi
