// Leans on a header that it does not include, and includes one that no stranger has.
#pragma once

#include <fmt/format.h>

inline std::vector<int> leaning(double number) {
  int rounded = number;
  return {rounded};
}
