# shellcheck shell=bash
# Where the private prefix is: $KILN_TOOLCHAIN_DIR, else kiln/toolchain below $XDG_DATA_HOME or ~/.local/share. What is
# set but empty counts as not set. A relative KILN_TOOLCHAIN_DIR is one of the current folder; the user's other
# folders are ignored where they are relative, as the XDG specification wants.
# kiln itself (tools/system/environment.cpp) and its CMake files (cmake/KilnToolchainDir.cmake) have the same rule;
# tests/setup/places.txt holds the three together.
private_prefix() {
  if [ -n "${KILN_TOOLCHAIN_DIR:-}" ]; then
    realpath -ms -- "$KILN_TOOLCHAIN_DIR"
  elif [[ ${XDG_DATA_HOME:-} == /* ]]; then
    printf '%s\n' "$XDG_DATA_HOME/kiln/toolchain"
  elif [[ ${HOME:-} == /* ]]; then
    printf '%s\n' "$HOME/.local/share/kiln/toolchain"
  fi
}
