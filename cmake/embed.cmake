# plackett_embed(ROOM FILE...): sets plackett_embedded to a source file that holds the files' bytes
# and defines std::span<const EmbeddedFile> plackett::ROOM::embedded_files(), in this order. The
# assembler includes the bytes directly, so large files compile quickly.
# plackett_chart_library: the charting library that both web pages use (docs/decisions/0008-charts.md).
find_file(plackett_chart_library chart.min.js PATHS /usr/share/javascript/chart.js NO_DEFAULT_PATH)
if(NOT plackett_chart_library)
  message(FATAL_ERROR "chart.min.js is missing; Debian has it in the package libjs-chart.js "
    "(scripts/setup installs it)")
endif()

function(plackett_embed room)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded_files.cc)
  set(blocks "")
  set(declarations "")
  set(entries "")
  set(number 0)
  foreach(path IN LISTS ARGN)
    get_filename_component(name ${path} NAME)
    set(symbol plackett_embedded_${number})
    string(APPEND blocks
      "__asm__(\".section .rodata\\n${symbol}_begin:\\n.incbin \\\"${path}\\\"\\n"
      "${symbol}_end:\\n.byte 0\\n.previous\\n\");\n")
    string(APPEND declarations
      "extern const char ${symbol}_begin[] __attribute__((visibility(\"hidden\")));\n"
      "extern const char ${symbol}_end[] __attribute__((visibility(\"hidden\")));\n")
    string(APPEND entries
      "    {\"${name}\", {${symbol}_begin, static_cast<std::size_t>(${symbol}_end - ${symbol}_begin)}},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(CONFIGURE OUTPUT ${output} CONTENT [[
// Made by cmake/embed.cmake.
#include <span>

#include "base/embedded_file.h"

@blocks@
extern "C" {
@declarations@}

namespace plackett::@room@ {

std::span<const EmbeddedFile> embedded_files();
std::span<const EmbeddedFile> embedded_files() {
  static const EmbeddedFile kFiles[] = {
@entries@    {{}, {}}};
  return {kFiles, sizeof kFiles / sizeof kFiles[0] - 1};
}

}  // namespace plackett::@room@
]] @ONLY)
  # On its own: in a group of sources, OBJECT_DEPENDS has no effect.
  set_source_files_properties(${output} PROPERTIES
    OBJECT_DEPENDS "${ARGN}" SKIP_UNITY_BUILD_INCLUSION ON)
  set(plackett_embedded ${output} PARENT_SCOPE)
endfunction()
