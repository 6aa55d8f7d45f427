# plackett_embed(OUTPUT FILE...): writes OUTPUT, a C++ file that holds the files' bytes and gives
# them through plackett::http::embedded_files(). The assembler takes the bytes in as they are, so
# it compiles at once however large they are.
function(plackett_embed output)
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
#include "http/pages.h"

@blocks@
extern "C" {
@declarations@}

namespace plackett::http {

std::span<const EmbeddedFile> embedded_files() {
  static const EmbeddedFile kFiles[] = {
@entries@    {{}, {}}};
  return {kFiles, sizeof kFiles / sizeof kFiles[0] - 1};
}

}  // namespace plackett::http
]] @ONLY)
  set_source_files_properties(${output} PROPERTIES OBJECT_DEPENDS "${ARGN}")
endfunction()
