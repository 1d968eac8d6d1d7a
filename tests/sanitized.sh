#!/usr/bin/env bash
# Builds the readers, the tools and the fuzz targets with clang under the address and undefined-behaviour
# sanitizers, and the runtime and the engine of builds under the thread sanitizer, and runs their tests.
# usage: tests/sanitized.sh [address|threads]...      both, without a word
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
[ $# -gt 0 ] || set -- address threads

compiler=
for name in clang++-19 clang++-20 clang++-18 clang++; do
  if command -v "$name" >/dev/null &&
    "$name" -fsanitize=address,undefined -x c++ -o /dev/null - <<<'int main() {}' 2>/dev/null; then
    compiler=$name
    break
  fi
done
if [ -z "$compiler" ]; then
  echo "skipped: the sanitized tests: no clang with its sanitizers is here (apt install clang-19 libclang-rt-19-dev)"
  exit 0
fi

# build PRESET TARGETS...
build() {
  local preset=$1
  shift
  echo "== $preset"
  CC=${compiler/++/} CXX=$compiler cmake --preset "$preset" --log-level=WARNING
  cmake --build --preset "$preset" --target "$@"
}
# run PRESET PROGRAM...: each a Catch2 program below the build; 4: every case was skipped
run() {
  local folder=build-$1 program
  shift
  for program in "$@"; do
    echo "-- $program"
    (cd "$folder" && "$(find . -type f -name "$program" -perm -u+x)" --reporter compact) || [ $? = 4 ]
  done
}

for what in "$@"; do
  case $what in
    address)
      mapfile -t targets < <(basename -a -s .cpp tests/fuzz/fuzz_*.cpp | sed 's/^/check_/')
      programs=(unit_formats parse_manifest_test parse_kernel_argument_test scan_includes_test depfile_test)
      build checked "${targets[@]}" fake_cuda "${programs[@]}"
      ctest --test-dir build-checked --output-on-failure --no-tests=error --parallel "$(nproc)" -R '^fuzz: '
      run checked "${programs[@]}"
      ;;
    threads)
      build checked-threads runtime_fakes_contract execute_test
      # The thread sanitizer wants its addresses where it expects them.
      for driver in fake_cuda fake_hip; do
        KILN_TEST_DRIVER=$driver run checked-threads runtime_fakes_contract
      done
      run checked-threads execute_test
      ;;
    *)
      echo "unknown word '$what', expected address or threads"
      exit 2
      ;;
  esac
done
