// Which build this is.
#pragma once

#include <string>
#include <string_view>

namespace plackett {

// A hash of the sources that results depend on, the compiler and its flags, made by the build
// (cmake/build_id.cmake).
std::string_view build_id();

// A hash of the program or shared library that holds the code at `address`, for code that this
// build did not compile. Empty if its file can't be read. Reads the whole file.
std::string file_id(const void* address);

}  // namespace plackett
