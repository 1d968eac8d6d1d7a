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
[ $# -gt 0 ] || mapfile -t all < <(basename -a -s .cpp tests/fuzz/fuzz_*.cpp | sed 's/^fuzz_//')
[ $# -gt 0 ] || set -- "${all[@]}"

CC=${CC:-clang-19} CXX=${CXX:-clang++-19} cmake --preset fuzz --log-level=WARNING
programs=(fake_cuda)
for target in "$@"; do programs+=("fuzz_$target" "check_fuzz_$target"); done
cmake --build --preset fuzz --target "${programs[@]}"

folder=build-fuzz
KILN_CUDA_LIBRARY=$(find "$PWD/$folder" -name fake_cuda.so)
export KILN_CUDA_LIBRARY
# Short stack traces and a small quarantine, because most inputs allocate much and are valid.
export ASAN_OPTIONS=${ASAN_OPTIONS:-malloc_context_size=2:quarantine_size_mb=16}
mkdir -p "$folder/findings"
for target in "$@"; do
  corpus=$folder/corpus/$target
  mkdir -p "$corpus"
  "$folder/tests/fuzz/check_fuzz_$target" --seeds "$corpus"
  kept=()
  [ ! -d "tests/fuzz/corpus/$target" ] || kept=("tests/fuzz/corpus/$target")
  "$folder/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -max_len=4096 -print_funcs=0 -timeout=20 \
    -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$folder/findings/$target-" \
    "$corpus" "${kept[@]}" >"$folder/$target.log" 2>&1 ||
    { tail -40 "$folder/$target.log"; exit 1; }
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/$target.log")
  echo "$target: $runs runs in $seconds s, $(find "$corpus" -type f | wc -l) inputs"
done
