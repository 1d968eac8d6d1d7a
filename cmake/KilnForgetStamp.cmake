# Removes STAMP, so that Make builds again, where one of the files EXPECTED (with | between) is gone.
string(REPLACE "|" ";" files "${EXPECTED}")
foreach(file IN LISTS files)
  if(NOT EXISTS "${file}")
    file(REMOVE "${STAMP}")
  endif()
endforeach()
