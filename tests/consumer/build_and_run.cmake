# Configures, builds and runs a project as a user would, in a new folder.
#
#   cmake -DSOURCE=DIR -DBUILD=DIR -DGENERATOR=NAME -DCOMPILER=FILE [-DPREFIX=DIR]
#         [-DPROGRAMS=NAME;...] [-DLINKED=shared|static] [-DOPTIONS=-DX=Y;...] -P build_and_run.cmake
#
# LINKED: which of the prefix's libraries the programs must be linked with.
file(REMOVE_RECURSE ${BUILD})
set(options -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} ${OPTIONS})
if(PREFIX)
  list(APPEND options -DCMAKE_PREFIX_PATH=${PREFIX})
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${BUILD} ${options}
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${BUILD} --parallel 1 COMMAND_ERROR_IS_FATAL ANY)
foreach(program IN LISTS PROGRAMS)
  execute_process(COMMAND ${BUILD}/${program} WORKING_DIRECTORY ${BUILD} COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND ldd ${BUILD}/${program} OUTPUT_VARIABLE linked COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "libplackett[^\n]*" linked "${linked}")
  if(LINKED STREQUAL "shared")
    string(FIND "${linked}" " => ${PREFIX}/" place)
    if(place EQUAL -1)
      message(FATAL_ERROR "${program} should run with ${PREFIX}'s library; ldd: \"${linked}\"")
    endif()
  elseif(LINKED STREQUAL "static" AND linked)
    message(FATAL_ERROR "${program} should be linked statically; ldd: ${linked}")
  endif()
endforeach()
