#!/usr/bin/env bash
# The long form of the fuzz tests: libFuzzer, with coverage, under the address and
# undefined-behaviour sanitizers. Prints the number of runs, the time and the corpus size of each
# target, and fails with the first input that breaks one (kept in build-fuzz/findings).
# usage: tests/fuzz/long_run.sh SECONDS [TARGET]...      SECONDS for each target; all targets
# without a name
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
seconds=${1:?how many seconds for each target?}
shift

CC=${CC:-clang-19} CXX=${CXX:-clang++-19} cmake --preset fuzz --log-level=WARNING
cmake --build --preset fuzz --target fake_cuda {check_,}fuzz_{readers,records}

folder=build-fuzz
declare -A programs # the program of each target
for program in readers records; do
  for target in $("$folder/tests/fuzz/check_fuzz_$program" --list); do programs[$target]=$program; done
done
mapfile -t all < <(printf '%s\n' "${!programs[@]}" | sort)
[ $# -gt 0 ] || set -- "${all[@]}"
for target in "$@"; do
  [ -n "${programs[$target]:-}" ] || { echo "no target $target, expected one of: ${all[*]}"; exit 2; }
done

KILN_CUDA_LIBRARY=$(find "$PWD/$folder" -name fake_cuda.so)
export KILN_CUDA_LIBRARY
# Short stack traces and a small quarantine, because most inputs allocate much and are valid.
export ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=2:quarantine_size_mb=16}
mkdir -p "$folder/findings"
for target in "$@"; do
  corpus=$folder/corpus/$target
  mkdir -p "$corpus"
  "$folder/tests/fuzz/check_fuzz_${programs[$target]}" "$target" --seeds "$corpus"
  kept=()
  [ ! -d "tests/fuzz/corpus/$target" ] || kept=("tests/fuzz/corpus/$target")
  "$folder/tests/fuzz/fuzz_${programs[$target]}" "$target" -max_total_time="$seconds" -max_len=4096 -print_funcs=0 -timeout=20 \
    -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$folder/findings/$target-" \
    "$corpus" "${kept[@]}" >"$folder/$target.log" 2>&1 ||
    { tail -40 "$folder/$target.log"; exit 1; }
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$target.log")
  echo "$target: $runs runs in $seconds s, $(find "$corpus" -type f | wc -l) inputs"
done
