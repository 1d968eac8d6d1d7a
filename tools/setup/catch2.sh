# shellcheck shell=bash disable=SC2154  # the variables are setup.sh's
# Catch2 for the tests: the system's, or else built from its distribution's source package with the
# machine's own compiler. Sourced by tools/setup.sh.

catch2_minimum=3.3  # SKIP came then

look_for_catch2() {
  local file version
  for file in {/usr,/usr/local}/{lib,lib/*-linux-gnu,share}/cmake/Catch2/Catch2ConfigVersion.cmake; do
    version=$(sed -n 's/^set(PACKAGE_VERSION "\(.*\)")/\1/p' "$file" 2>/dev/null || true)
    if [ -n "$version" ] && at_least "$catch2_minimum" "$version"; then
      report Catch2 found "$(dirname "$file")"
      return 0
    fi
  done
  if [ "$distribution" = debian ] && ! at_least 13 "${distribution_version:-99}"; then
    want_part catch2
  else
    want_package Catch2 catch2
  fi
}

assemble_catch2() {
  fetch_part catch2
  mkdir source
  tar -xf "${fetched[0]}" -C source --strip-components=1
  quietly cmake -S source -B build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=g++ \
    -DCMAKE_CXX_STANDARD=17 -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
    -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=60 \
    -DBUILD_TESTING=OFF -DCATCH_INSTALL_DOCS=OFF \
    -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX="$1" || die "Catch2 cannot be configured"
  quietly cmake --build build --target install || die "Catch2 does not build"
}
