// How well each method does so far, under each click model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "terminal_text.h"

namespace plackett::command {

class Standing {
 public:
  struct Names {
    std::string title;  // of the column of methods
    std::vector<std::string> methods;
    std::vector<std::string> click_models;
  };

  Standing() = default;  // of nothing: has no lines
  explicit Standing(Names names);

  // Requires: both are in Names.
  void add(std::size_t method, std::size_t click_model, double offline);

  // A heading and a line a method, with the mean of what was added under each click model and the
  // best of each column in bold. Fits the room: names are cut, then columns fall away from the
  // right, methods from below; nothing where not even one is left.
  [[nodiscard]] std::vector<std::string> lines(const TerminalSize& room) const;

 private:
  struct Sum {
    double total = 0;
    std::uint64_t count = 0;
  };

  [[nodiscard]] std::string value(std::size_t method, std::size_t click_model) const;
  [[nodiscard]] const Sum& sum(std::size_t method, std::size_t click_model) const {
    return sums_[method * names_.click_models.size() + click_model];
  }

  Names names_;
  std::vector<Sum> sums_;
};

}  // namespace plackett::command
