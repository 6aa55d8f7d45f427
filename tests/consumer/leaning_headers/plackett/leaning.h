// Uses a header that it does not include, and includes one that users may not have.
#pragma once

#include <fmt/format.h>

inline std::vector<int> leaning(double number) {
  int rounded = number;
  return {rounded};
}
