// Runs a fuzz target without a fuzzer: every file of the folders given, then a fixed number of
// mutations of each, the same in every run.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/rng.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int kMutations = 500;

// A copy with a few bytes flipped, overwritten, removed or doubled.
std::string mutated(std::string bytes, plackett::Rng& rng) {
  const std::uint32_t edits = 1 + rng.below(4);
  for (std::uint32_t edit = 0; edit < edits && !bytes.empty(); ++edit) {
    const std::size_t at = rng.below(static_cast<std::uint32_t>(bytes.size()));
    const std::size_t length = std::min<std::size_t>(1 + rng.below(8), bytes.size() - at);
    switch (rng.below(5)) {
      case 0:
        bytes[at] = static_cast<char>(bytes[at] ^ (1 << rng.below(8)));
        break;
      case 1:
        bytes[at] = static_cast<char>(rng.below(256));
        break;
      case 2:
        bytes.erase(at, length);
        break;
      case 3:
        bytes.insert(at, bytes.substr(at, length));
        break;
      default:
        std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), length,
                    rng.below(2) == 0 ? '\0' : '\xff');
    }
  }
  if (rng.below(16) == 0) bytes.resize(bytes.size() / 2);
  return bytes;
}

void run(const std::string& bytes) {
  // A block of exactly this size, so that a sanitizer sees reads past the end.
  const std::vector<std::uint8_t> copy(bytes.begin(), bytes.end());
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int argument = 1; argument < argc; ++argument) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[argument])) {
      files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());
  if (files.empty()) {
    std::fprintf(stderr, "no corpus; give a folder with files in it\n");
    return 2;
  }
  std::size_t runs = 0;
  for (std::uint32_t number = 0; number < files.size(); ++number) {
    std::ifstream file(files[number], std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    run(bytes);
    plackett::Rng rng({.seed = number});
    for (int mutation = 0; mutation < kMutations; ++mutation) run(mutated(bytes, rng));
    runs += 1 + kMutations;
  }
  std::printf("%zu inputs from %zu files\n", runs, files.size());
  return 0;
}
