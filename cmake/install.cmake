# cmake --install: the command, both libraries, the headers, and the CMake and pkg-config files.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/plackett)

if(PLACKETT_COMMAND)
  install(TARGETS plackett RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/plackett DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT library FILES_MATCHING PATTERN "*.h")
foreach(name shared static)
  install(TARGETS plackett_${name} EXPORT plackett_${name}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
  install(EXPORT plackett_${name} NAMESPACE plackett:: FILE plackett_${name}.cmake
    DESTINATION ${package_folder} COMPONENT library)
endforeach()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/plackettConfig.cmake.in
  ${PROJECT_BINARY_DIR}/plackettConfig.cmake INSTALL_DESTINATION ${package_folder})
# Before 1.0 only the same minor version is compatible.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/plackettConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/plackettConfig.cmake ${PROJECT_BINARY_DIR}/plackettConfigVersion.cmake
  DESTINATION ${package_folder} COMPONENT library)

foreach(folder CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
  if(IS_ABSOLUTE "${${folder}}")
    message(FATAL_ERROR "${folder} is ${${folder}}; it must be under the prefix, so that the "
      "package can be moved")
  endif()
endforeach()

# For pkg-config. The files give the prefix relative to their own place, so that it can be moved.
file(RELATIVE_PATH pkgconfig_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pkgconfig_to_prefix "${pkgconfig_to_prefix}")
# Lets programs find the shared library at run time: by default the loader looks only in the
# system's folders.
set(pkgconfig_rpath " -Wl,-rpath,\${libdir}")
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(pkgconfig_rpath)
endif()
foreach(name plackett plackett-static)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
    COMPONENT library)
endforeach()
