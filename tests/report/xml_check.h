// A check that text is well-formed XML, as far as reports write it: elements, attributes, text and
// the predefined entities.
#pragma once

#include <string>
#include <string_view>

namespace plackett::testing {

// What is wrong and where, or "" for a well-formed document.
std::string xml_fault(std::string_view text);

}  // namespace plackett::testing
