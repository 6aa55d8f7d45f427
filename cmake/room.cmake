# plackett_public_headers(TARGET header...)
#
# Lets a target and its direct users include these headers of include/plackett/ as
# "plackett/header.h", and no others: the folder on their path holds only links to them.
function(plackett_public_headers target)
  set(root ${PROJECT_BINARY_DIR}/rooms/${target})
  file(MAKE_DIRECTORY ${root}/plackett)
  foreach(header IN LISTS ARGN)
    file(CREATE_LINK ${PROJECT_SOURCE_DIR}/include/plackett/${header} ${root}/plackett/${header} SYMBOLIC)
  endforeach()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL INTERFACE_LIBRARY)
    target_include_directories(${target} INTERFACE ${root})
  else()
    target_include_directories(${target} PUBLIC ${root})
  endif()
endfunction()

# plackett_room(NAME SOURCES ... PUBLIC header... MAY_INCLUDE room... LIBRARIES target... [PART]
#               [TOGETHER])
#
# One static library per room. Its own headers are found as "room/header.h", those in PUBLIC, which
# are part of the installed library, as "plackett/header.h". Both are in folders that hold only that
# room's headers, and rooms are linked PRIVATE, so MAY_INCLUDE lists every room whose headers its code
# can include, directly or through other headers: a learner that includes a judgment does not compile.
# PART: part of another room's folder, without headers of its own. TOGETHER: its sources are compiled
# in groups, for rooms whose files mostly compile the same large headers.
function(plackett_room name)
  cmake_parse_arguments(ROOM "PART;TOGETHER" "" "SOURCES;PUBLIC;MAY_INCLUDE;LIBRARIES" ${ARGN})
  add_library(plackett_${name} STATIC ${ROOM_SOURCES})
  if(ROOM_TOGETHER)
    set_target_properties(plackett_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 9)
  endif()
  if(NOT ROOM_PART)
    set(root ${PROJECT_BINARY_DIR}/rooms/plackett_${name})
    file(MAKE_DIRECTORY ${root})
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/${name} SYMBOLIC)
    target_include_directories(plackett_${name} PUBLIC ${root})
  endif()
  plackett_public_headers(plackett_${name} ${ROOM_PUBLIC})
  foreach(other IN LISTS ROOM_MAY_INCLUDE)
    target_link_libraries(plackett_${name} PRIVATE plackett_${other})
  endforeach()
  target_link_libraries(plackett_${name} PRIVATE ${ROOM_LIBRARIES} plackett_options)
endfunction()

# The headers of all rooms, for tests, benchmarks and fuzz targets.
add_library(plackett_all_headers INTERFACE)
target_include_directories(plackett_all_headers INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)

# plackett_seconds(VARIABLE SECONDS): a test's time limit, longer under sanitizers.
function(plackett_seconds variable seconds)
  if(PLACKETT_SANITIZE)
    math(EXPR seconds "5 * ${seconds}")
  endif()
  set(${variable} ${seconds} PARENT_SCOPE)
endfunction()

# plackett_test(NAME SOURCES ... ROOMS room... LIBRARIES target... [SEPARATE] [ONE_PROCESS filter]):
# one GoogleTest binary.
# Its sources are compiled with little optimisation and together: that takes an eighth of the time,
# since GoogleMock's templates are instantiated once. SEPARATE: one by one, for files that use the
# same names. ONE_PROCESS: CTest runs the tests that match the filter as one, in one process, for those
# that share what takes long to start.
function(plackett_test name)
  cmake_parse_arguments(TEST "SEPARATE" "ONE_PROCESS" "SOURCES;ROOMS;LIBRARIES" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  if(NOT TEST_SEPARATE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  endif()
  target_compile_options(${name} PRIVATE -O1)
  foreach(room IN LISTS TEST_ROOMS)
    target_link_libraries(${name} PRIVATE plackett_${room})
  endforeach()
  target_link_libraries(${name} PRIVATE
    ${TEST_LIBRARIES} plackett_all_headers plackett_options GTest::gmock_main Boost::headers)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE
    PLACKETT_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    PLACKETT_COMMAND="${CMAKE_BINARY_DIR}/bin/plackett")
  plackett_seconds(limit 300)
  if(TEST_ONE_PROCESS)
    add_test(NAME ${name}_in_one_process COMMAND ${name} --gtest_filter=${TEST_ONE_PROCESS})
    set_tests_properties(${name}_in_one_process PROPERTIES TIMEOUT ${limit})
    gtest_discover_tests(${name} TEST_FILTER "-${TEST_ONE_PROCESS}"
      DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${limit})
    return()
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${limit})
endfunction()
