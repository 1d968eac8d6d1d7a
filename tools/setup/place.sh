# shellcheck shell=bash
# Prints the private prefix: $KILN_TOOLCHAIN_DIR, or else kiln/toolchain below $XDG_DATA_HOME or
# ~/.local/share. A variable that is set but empty counts as not set. A relative KILN_TOOLCHAIN_DIR
# is relative to the current folder. The other variables are ignored if they are relative, as the
# XDG specification demands. kiln itself (tools/system/environment.cpp) and its CMake files
# (cmake/KilnToolchainDir.cmake) follow the same rule; tests/setup/places.txt tests all three.
private_prefix() {
  if [ -n "${KILN_TOOLCHAIN_DIR:-}" ]; then
    realpath -ms -- "$KILN_TOOLCHAIN_DIR"
  elif [[ ${XDG_DATA_HOME:-} == /* ]]; then
    printf '%s\n' "$XDG_DATA_HOME/kiln/toolchain"
  elif [[ ${HOME:-} == /* ]]; then
    printf '%s\n' "$HOME/.local/share/kiln/toolchain"
  fi
}
