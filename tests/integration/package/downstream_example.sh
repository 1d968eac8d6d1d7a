#!/usr/bin/env bash
# downstream_example.sh PROJECT EXAMPLES PREFIX LIBDIR WORK: builds and runs a copy of one of
# examples/downstream with the kiln installed in PREFIX, edits its kernel, builds and runs it again,
# and once more without a change.
set -eu
project=$1 examples=$2 prefix=$3 libdir=$4 work=$5
rm -rf "$work"
mkdir -p "$work"
cp -r "$examples/." "$work"
cd "$work/$project"
export PATH="$prefix/bin:$PATH" PKG_CONFIG_PATH="$prefix/$libdir/pkgconfig"

with_cmake() { # OPTION...
  [ -d build ] || cmake -G Ninja -B build -DCMAKE_BUILD_TYPE=Debug "$@"
  cmake --build build --target app
  program=build/app
}
build() {
  program=./app
  case $project in
    cmake) with_cmake "-DCMAKE_PREFIX_PATH=$prefix" ;;
    fetchcontent) # from this tree, and with the program kiln of this build: that is what takes long
      printf 'add_executable(kiln::kiln IMPORTED GLOBAL)\nset_target_properties(kiln::kiln PROPERTIES IMPORTED_LOCATION "%s")\n' \
        "$KILN_PROGRAM" >"$work/kiln.cmake"
      with_cmake "-DFETCHCONTENT_SOURCE_DIR_KILN=$KILN_SOURCE" -DCMAKE_CXX_FLAGS_DEBUG=-O0 \
        "-DCMAKE_PROJECT_app_INCLUDE=$work/kiln.cmake" -DKILN_BUILD_TOOLS=OFF -DKILN_COMPILE_TOGETHER=ON
      # Without kiln's own kernels, which take minutes.
      grep -q 'KILN_BUILD_OPS:BOOL=OFF' build/CMakeCache.txt ;;
    make | c) make ;;
    amalgamated) # by each compiler in turn
      local compiler=g++
      [ -f app ] && compiler=$(command -v clang++-14 || command -v clang++ || echo g++)
      # For images of the host, kiln itself needs clang 15 or later.
      CXXFLAGS=-O0 make "CXX=$compiler" "KILN=env -u CXX kiln" ;;
    ninja) ninja ;;
    meson)
      [ -d build ] || meson setup build
      meson compile -C build
      program=build/app ;;
    cargo) # what cargo does, for machines that have rustc alone
      export OUT_DIR=$work/cargo/target
      mkdir -p "$OUT_DIR"
      rustc --edition 2021 build.rs -o "$OUT_DIR/build"
      "$OUT_DIR/build" | tee "$OUT_DIR/said"
      local options=()
      while IFS='=' read -r key value; do
        case $key in
          cargo:rustc-link-search) options+=(-L "$value") ;;
          cargo:rustc-link-arg) options+=(-C "link-arg=$value") ;;
        esac
      done <"$OUT_DIR/said"
      rustc --edition 2021 -D warnings src/main.rs -o app "${options[@]}" ;;
    python)
      kiln build ../kernels/targets.json --out out --emit catalog --allow-missing
      export PYTHONPATH="$prefix/share/kiln/python" PYTHONDONTWRITEBYTECODE=1
      program="python3 main.py" ;;
  esac
}
check() { # EXPECTED
  local said
  said=$($program | xargs)
  echo "said: $said"
  [ "$said" = "$1" ] || { echo "FAILED: expected $1" >&2; exit 1; }
}

build
check "3 5 7 9"
sleep 1.1  # Make's clock ticks in seconds
sed -i 's/y\[i\] += a/y[i] -= a/' ../kernels/saxpy.cu
build
check "-1 -3 -5 -7"
build >again.log 2>&1 || { cat again.log; exit 1; }
check "-1 -3 -5 -7"
if [ "$project" = amalgamated ]; then
  grep -v 'define KILN_IMPLEMENTATION' main.cpp >without.cpp
  if g++ -std=c++20 -Iout/include without.cpp -o without -ldl -pthread >without.log 2>&1 ||
    ! grep -q 'kiln_needs_one_source_file_that_defines_KILN_IMPLEMENTATION' without.log; then
    cat without.log
    echo "FAILED: a program without the implementation" >&2
    exit 1
  fi
  if g++ -std=c++20 -fno-exceptions -E -Iout/include main.cpp 2>without.log >/dev/null ||
    [ "$(grep -c 'error: ' without.log)" != 1 ] || ! grep -q 'is compiled with exceptions' without.log; then
    cat without.log
    echo "FAILED: an implementation without exceptions" >&2
    exit 1
  fi
fi
if grep -E 'compile vectors|steps?: [1-9]' again.log; then
  echo "FAILED: something was built without a change" >&2
  exit 1
fi
# Also on an emulated GPU, if its image could be built. A program that builds kiln itself builds
# only what it needs, and no emulator.
if [ "$project" = fetchcontent ]; then
  echo "without the emulator: not run on an emulated GPU"
elif [ -n "$(find . -name gfx1100.hsaco | head -1)" ]; then
  export KILN_DEVICE=emulated:gfx1100
  # A program of one header looks next to itself, or where the variable says.
  [ "$project" != amalgamated ] || export KILN_EMULATOR_LIBRARY=$prefix/$libdir/libkiln_emulator.so
  check "-1 -3 -5 -7"
else
  echo "without hipcc: not run on an emulated GPU"
fi
