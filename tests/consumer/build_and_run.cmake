# Configures, builds and runs a project as a stranger would, in a folder that is new.
#
#   cmake -DSOURCE=DIR -DBUILD=DIR -DGENERATOR=NAME -DCOMPILER=FILE [-DPREFIX=DIR]
#         [-DPROGRAMS=NAME;...] [-DOPTIONS=-DX=Y;...] -P build_and_run.cmake
#
# Where there is a PREFIX, the programs that link a shared plackett must find it there.
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
  if(linked MATCHES "libplackett[^\n]*=> ([^\n]*libplackett[^ ]*)" AND PREFIX)
    cmake_path(IS_PREFIX PREFIX ${CMAKE_MATCH_1} NORMALIZE within)
    if(NOT within)
      message(FATAL_ERROR "${program} runs with ${CMAKE_MATCH_1}, which is not in ${PREFIX}")
    endif()
  elseif(NOT linked MATCHES "libplackett" AND LINKED STREQUAL "shared")
    message(FATAL_ERROR "${program} does not link the shared library")
  endif()
  if(linked MATCHES "libplackett" AND LINKED STREQUAL "static")
    message(FATAL_ERROR "${program} links the shared library; the static one was asked for")
  endif()
endforeach()
