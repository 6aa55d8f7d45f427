# The rooms as one library, shared and static, behind include/plackett/.
set(plackett_rooms base feature_view dataset ranker sampling users learner evaluation experiment gpu report
  offpolicy facade)
set(plackett_objects)
foreach(room IN LISTS plackett_rooms)
  list(APPEND plackett_objects $<TARGET_OBJECTS:plackett_${room}>)
endforeach()

# The libraries it depends on: as found here, and by name for users of the installed static library.
set(plackett_libraries fmt::fmt hwy::hwy Threads::Threads
  $<BUILD_INTERFACE:plackett::deflate> $<BUILD_INTERFACE:plackett::xxhash>
  $<BUILD_INTERFACE:plackett::cairo> $<BUILD_INTERFACE:plackett::utf8proc>
  $<BUILD_INTERFACE:tomlplusplus::tomlplusplus> $<BUILD_INTERFACE:plackett::lbfgs>
  $<INSTALL_INTERFACE:deflate> $<INSTALL_INTERFACE:xxhash> $<INSTALL_INTERFACE:cairo>
  $<INSTALL_INTERFACE:utf8proc> $<INSTALL_INTERFACE:tomlplusplus> $<INSTALL_INTERFACE:lbfgs>)

foreach(kind SHARED STATIC)
  string(TOLOWER ${kind} name)
  add_library(plackett_${name} ${kind} ${plackett_objects})
  add_library(plackett::${name} ALIAS plackett_${name})
  target_include_directories(plackett_${name} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(plackett_${name} INTERFACE cxx_std_20)
  target_link_libraries(plackett_${name} PRIVATE ${plackett_libraries})
  if(PLACKETT_SANITIZE)
    target_link_options(plackett_${name} PUBLIC -fsanitize=${PLACKETT_SANITIZE})
  endif()
  set_target_properties(plackett_${name} PROPERTIES
    OUTPUT_NAME plackett EXPORT_NAME ${name} LINKER_LANGUAGE CXX
    ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
endforeach()
# Before 1.0 a minor version may change what is public.
set_target_properties(plackett_shared PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_link_options(plackett_shared PRIVATE -Wl,--no-undefined
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exported_symbols.txt)
set_target_properties(plackett_shared PROPERTIES
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exported_symbols.txt)

# plackett::plackett is the one that BUILD_SHARED_LIBS selects.
if(BUILD_SHARED_LIBS OR NOT DEFINED BUILD_SHARED_LIBS)
  add_library(plackett::plackett ALIAS plackett_shared)
else()
  add_library(plackett::plackett ALIAS plackett_static)
endif()
