#!/usr/bin/env bash
# Tests under the compilers' sanitizers.
# usage: tests/sanitized.sh [WORD]...      readers, runtime and host, without a word
#   readers  the fuzz targets of bytes and text, with address and undefined-behaviour sanitizers
#   runtime  the runtime's contract over the fake drivers, with the thread sanitizer
#   host     the host device, with all of them: planted faults, and kiln's own kernels against their
#            references; needs the kernels' header and the suite of the main build
#   rest     what takes longer: records, the C interface and the readers' unit tests with the first
#            two sanitizers, the build engine with the thread sanitizer
# CXX names the compiler; otherwise it is the first of clang and GNU whose sanitizers work here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ $# -gt 0 ] || set -- readers runtime host

# The thread sanitizer needs a fixed address layout, which not every container allows to request.
fixed=()
! setarch -R true 2>/dev/null || fixed=(setarch -R)

# True if a program that this compiler builds with these sanitizers runs here.
works() {
  local program code
  program=$(mktemp)
  "$1" "-fsanitize=$2" -x c++ -o "$program" - <<<'int main() {}' 2>/dev/null &&
    "${fixed[@]}" "$program" 2>/dev/null
  code=$?
  rm "$program"
  return $code
}
# choose SANITIZERS: sets CXX, or says why these tests are skipped. clang takes half of the time of
# GNU.
choose() {
  local name
  for name in ${asked:-clang++-19 clang++-20 clang++-18 clang++ g++}; do
    if works "$name" "$1"; then
      export CXX=$name
      return
    fi
  done
  echo "skipped: the tests under $1: ${asked:-neither clang nor GNU} has such sanitizers that work here"
  return 1
}
asked=${CXX:-}

# build PRESET TARGETS...
build() {
  local preset=$1
  shift
  echo "== $preset, $CXX"
  cmake --preset "$preset" --log-level=ERROR >/dev/null
  cmake --build --preset "$preset" --target "$@"
}
# run PRESET PROGRAM...: runs Catch2 programs below the build; exit status 4: every case was skipped
run() {
  local folder=build-$1 program
  shift
  for program in "$@"; do
    echo "-- $program"
    (cd "$folder" && "${fixed[@]}" "$(find . -type f -name "$program" -perm -u+x)" --reporter compact) ||
      [ $? = 4 ]
  done
}
# fuzz PROGRAM: runs the seeds, the corpus, and some changed inputs of each target; the fast tests
# run more of those
fuzz() {
  # shellcheck disable=SC2016  # expanded by the shell that xargs starts
  "build-checked/tests/fuzz/check_fuzz_$1" --list | xargs -P "$(nproc)" -I '{}' bash -c '
    said=$("build-checked/tests/fuzz/check_fuzz_$1" "$2" "tests/fuzz/corpus/$2" 300 2>&1) && status=0 || status=$?
    printf "%s\n" "-- fuzz $2" "$said"
    exit $status' fuzz "$1" '{}'
}

unit=(unit_formats stages_test)

for what in "$@"; do
  case $what in
    readers)
      choose address,undefined || continue
      build checked check_fuzz_readers
      fuzz readers
      ;;
    runtime)
      choose thread || continue
      build checked-threads runtime_fakes_contract
      declare -A runs
      for driver in fake_cuda fake_hip; do # side by side
        KILN_TEST_DRIVER=$driver run checked-threads runtime_fakes_contract \
          >"build-checked-threads/$driver.log" 2>&1 &
        runs[$driver]=$!
      done
      for driver in fake_cuda fake_hip; do
        wait "${runs[$driver]}" && status=0 || status=$?
        cat "build-checked-threads/$driver.log"
        [ "$status" = 0 ] || exit "$status"
      done
      ;;
    host)
      if [ ! -d build/ops/kiln_own_kernels.kiln/include ] || [ ! -e build/tests/kernels/libkiln_suite.a ]; then
        echo "skipped: the host device under sanitizers: build/ has no header of our kernels, or no suite"
        continue
      fi
      for preset in checked checked-threads; do
        choose "$(if [ $preset = checked ]; then echo address,undefined; else echo thread; fi)" || continue
        build $preset kiln_host run_planted planted_images sanitized_conformance
        ctest --test-dir "build-$preset" --output-on-failure --parallel "$(nproc)" \
          --tests-regex '^(host:wave|sanitized kernels)' --no-tests=error
      done
      ;;
    rest)
      if choose address,undefined; then
        build checked check_fuzz_records fake_cuda "${unit[@]}"
        KILN_CUDA_LIBRARY=$(find "$PWD/build-checked" -name fake_cuda.so) fuzz records
        run checked "${unit[@]}"
      fi
      choose thread || continue
      build checked-threads engine_test
      run checked-threads engine_test
      ;;
    *)
      echo "unknown word '$what', expected readers, runtime, host or rest"
      exit 2
      ;;
  esac
done
