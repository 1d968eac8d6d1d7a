# Removes STAMP if one of the files in EXPECTED (separated by |) does not exist, so that Make builds
# again.
string(REPLACE "|" ";" files "${EXPECTED}")
foreach(file IN LISTS files)
  if(NOT EXISTS "${file}")
    file(REMOVE "${STAMP}")
  endif()
endforeach()
