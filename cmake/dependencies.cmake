find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(FastFloat REQUIRED)
find_package(hwy REQUIRED)
find_package(Boost 1.81 REQUIRED)  # Math, for p-values

# Debian's libdeflate and xxHash come without CMake packages.
function(plackett_plain_library name header library)
  find_path(${name}_INCLUDE ${header} REQUIRED)
  find_library(${name}_LIBRARY ${library} REQUIRED)
  add_library(plackett::${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(plackett::${name} SYSTEM INTERFACE ${${name}_INCLUDE})
  target_link_libraries(plackett::${name} INTERFACE ${${name}_LIBRARY})
endfunction()
plackett_plain_library(deflate libdeflate.h deflate)
plackett_plain_library(xxhash xxhash.h xxhash)

if(PLACKETT_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
endif()
