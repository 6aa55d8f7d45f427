# Copies an installed prefix to another folder, and checks that no file in it names the old one.
#
#   cmake -DFROM=DIR -DTO=DIR -P move.cmake
file(REMOVE_RECURSE ${TO})
file(COPY ${FROM}/ DESTINATION ${TO})
file(GLOB_RECURSE texts ${TO}/*.cmake ${TO}/*.pc ${TO}/*.h)
if(NOT texts)
  message(FATAL_ERROR "${FROM} holds no package")
endif()
cmake_path(GET FROM PARENT_PATH build)
foreach(text IN LISTS texts)
  file(READ ${text} content)
  string(FIND "${content}" "${build}" place)
  if(NOT place EQUAL -1)
    message(FATAL_ERROR "${text} names ${build}")
  endif()
endforeach()
