// Which build this is.
#pragma once

#include <string>

namespace plackett {

// The hash that the linker makes of a program's content, in hex: another wherever the code differs,
// the same for the same build. Of the program or of the shared library that holds this code. Empty
// where the linker made none.
std::string build_id();

// That of the program or shared library which holds the code at `address`.
std::string build_id_of(const void* address);

}  // namespace plackett
