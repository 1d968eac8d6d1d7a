# shellcheck shell=bash disable=SC2154  # the variables are setup.sh's
# Catch2, built from its distribution's source package with the machine's own compiler, where the
# machine's release has none that is new enough. Sourced by tools/setup.sh.

# True when the machine has Catch2 3.3 or newer (SKIP came then).
has_catch2() {
  local config
  for config in /usr/lib/cmake /usr/lib/*/cmake /usr/share/cmake /usr/local/lib/cmake \
    /usr/local/share/cmake; do
    config=$config/Catch2/Catch2ConfigVersion.cmake
    [ -e "$config" ] && at_least 3.3 "$(sed -n 's/^set(PACKAGE_VERSION "\(.*\)")/\1/p' "$config")" &&
      return 0
  done
  return 1
}

build_catch2() {
  local archive=$1 to=$2 source="$work/catch2-source"
  mkdir -p "$source"
  tar -xf "$archive" -C "$source" --strip-components=1
  quietly cmake -S "$source" -B "$source/build" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_COMPILER=g++ -DCMAKE_CXX_STANDARD=17 -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=60 \
    -DBUILD_TESTING=OFF -DCATCH_INSTALL_DOCS=OFF -DCMAKE_INSTALL_LIBDIR=lib \
    -DCMAKE_INSTALL_PREFIX="$to" &&
    quietly cmake --build "$source/build" --target install
}
