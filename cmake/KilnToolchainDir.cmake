# kiln_toolchain_dir: the folder for what tools/setup.sh installs. Empty if no variable names one.
# The rules are those of tools/setup/place.sh.
if(KILN_TOOLCHAIN_DIR)
  set(kiln_toolchain_dir "${KILN_TOOLCHAIN_DIR}")
elseif(NOT "$ENV{KILN_TOOLCHAIN_DIR}" STREQUAL "")
  get_filename_component(kiln_toolchain_dir "$ENV{KILN_TOOLCHAIN_DIR}" ABSOLUTE)
elseif("$ENV{XDG_DATA_HOME}" MATCHES "^/")
  set(kiln_toolchain_dir "$ENV{XDG_DATA_HOME}/kiln/toolchain")
elseif("$ENV{HOME}" MATCHES "^/")
  set(kiln_toolchain_dir "$ENV{HOME}/.local/share/kiln/toolchain")
else()
  set(kiln_toolchain_dir "")
endif()
