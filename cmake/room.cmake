# plackett_room(NAME SOURCES ... MAY_INCLUDE room... LIBRARIES target...)
#
# One static library a room. A room's headers are found as "room/header.h" through a folder
# that holds nothing but that room, so code can name only the rooms in MAY_INCLUDE: a learner
# that includes a judgment does not compile.
function(plackett_room name)
  cmake_parse_arguments(ROOM "" "" "SOURCES;MAY_INCLUDE;LIBRARIES" ${ARGN})
  set(root ${CMAKE_BINARY_DIR}/rooms/${name})
  file(MAKE_DIRECTORY ${root})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/${name} SYMBOLIC)
  add_library(plackett_${name} STATIC ${ROOM_SOURCES})
  target_include_directories(plackett_${name} PUBLIC ${root})
  foreach(other IN LISTS ROOM_MAY_INCLUDE)
    target_link_libraries(plackett_${name} PUBLIC plackett_${other})
  endforeach()
  target_link_libraries(plackett_${name} PUBLIC ${ROOM_LIBRARIES} PRIVATE plackett_options)
endfunction()

# plackett_test(NAME SOURCES ... ROOMS room... LIBRARIES target...): one GoogleTest binary.
function(plackett_test name)
  cmake_parse_arguments(TEST "" "" "SOURCES;ROOMS;LIBRARIES" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  foreach(room IN LISTS TEST_ROOMS)
    target_link_libraries(${name} PRIVATE plackett_${room})
  endforeach()
  target_link_libraries(${name} PRIVATE ${TEST_LIBRARIES} plackett_options GTest::gmock_main Boost::headers)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_definitions(${name} PRIVATE
    PLACKETT_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    PLACKETT_COMMAND="${CMAKE_BINARY_DIR}/bin/plackett")
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
endfunction()
