// A fuzz target without libFuzzer: runs every corpus file once, then mutations of them.
//
//   letor_fuzz [--runs=N] [--seconds=S] [--only=N] FILE_OR_FOLDER...
//
// Mutation N is a function of N and the corpus alone; --only=N runs just that one again.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plackett/rng.h"

// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier): names of others
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
// There where a sanitizer is linked in.
extern "C" void __attribute__((weak)) __sanitizer_set_death_callback(void (*callback)());
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)

namespace {

namespace fs = std::filesystem;
using Input = std::vector<std::uint8_t>;

constexpr std::size_t kMostBytes = 16'384;
constexpr std::array<std::uint64_t, 12> kEdges = {
    0, 1, 2, 7, 8, 255, 65'535, 1ULL << 31, ~0U, 1ULL << 62, 1ULL << 63, ~0ULL};
constexpr std::string_view kText = "0123456789.:-+eE# \t\r\nqidnaf";

std::string running;  // what to say on a crash

void say_what_ran() {
  if (::write(STDERR_FILENO, running.data(), running.size()) < 0) return;
}

void on_signal(int number) {
  say_what_ran();
  std::signal(number, SIG_DFL);
  std::raise(number);
}

void run(const Input& input, const std::string& description) {
  running = "failed on " + description + "\n";
  // A block of its own, exactly as large: a sanitizer sees a read past its end.
  const Input copy(input.begin(), input.end());
  LLVMFuzzerTestOneInput(copy.data(), copy.size());
}

// One change to `input` somewhere, of a kind that parsers tend to trip over; `in_place` keeps
// its size, which binary formats check first.
void mutate(Input& input, bool in_place, const std::vector<Input>& corpus, plackett::Rng& rng) {
  const auto below = [&rng](std::size_t bound) {
    return std::size_t{rng.below(static_cast<std::uint32_t>(std::max<std::size_t>(bound, 1)))};
  };
  const auto at = [&input](std::size_t offset) {
    return input.begin() + static_cast<std::ptrdiff_t>(offset);
  };
  const std::size_t place = below(input.size());
  const std::size_t length = std::min(1 + below(1U << below(7)), input.size() - place);
  switch (below(in_place ? 4 : 9)) {
    case 0:
      if (!input.empty()) input[place] ^= static_cast<std::uint8_t>(1U << below(8));
      break;
    case 1:
      if (!input.empty()) input[place] = static_cast<std::uint8_t>(below(256));
      break;
    case 2:
      if (!input.empty()) input[place] = static_cast<std::uint8_t>(kText[below(kText.size())]);
      break;
    case 3: {  // a whole number, little-endian, where numbers tend to lie
      const std::uint64_t number = kEdges[below(kEdges.size())];
      const std::size_t offset = place / 4 * 4;
      if (offset < input.size()) {
        const std::size_t bytes = std::min<std::size_t>(4U << below(2), input.size() - offset);
        std::memcpy(input.data() + offset, &number, bytes);
      }
      break;
    }
    case 4:
      input.insert(at(place), static_cast<std::uint8_t>(kText[below(kText.size())]));
      break;
    case 5:
      input.erase(at(place), at(place + length));
      break;
    case 6: {
      const Input block(at(place), at(place + length));
      input.insert(at(below(input.size())), block.begin(), block.end());
      break;
    }
    case 7:
      input.resize(place);
      break;
    default: {
      const Input& other = corpus[below(corpus.size())];
      const auto from = other.begin() + static_cast<std::ptrdiff_t>(below(other.size()));
      input.resize(place);
      input.insert(input.end(), from, other.end());
    }
  }
  if (input.size() > kMostBytes) input.resize(kMostBytes);
}

void run_mutation(std::uint64_t number, const std::vector<Input>& corpus) {
  plackett::Rng rng({.seed = 1, .impression = number});
  Input input = corpus[rng.below(static_cast<std::uint32_t>(corpus.size()))];
  const bool in_place = rng.below(2) == 0;
  for (std::uint32_t left = 1 + rng.below(6); left > 0; --left) {
    mutate(input, in_place, corpus, rng);
  }
  run(input, "mutation " + std::to_string(number) + "; repeat it with --only");
}

std::vector<fs::path> files_of(const fs::path& path) {
  if (!fs::is_directory(path)) return {path};
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(path)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::optional<std::uint64_t> option(std::string_view argument, std::string_view name) {
  if (!argument.starts_with(name)) return std::nullopt;
  return std::strtoull(argument.data() + name.size(), nullptr, 10);
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t runs = 20'000;
  std::uint64_t seconds = 5;
  std::optional<std::uint64_t> only;
  std::vector<Input> corpus;
  std::vector<std::string> names;
  for (int number = 1; number < argc; ++number) {
    const std::string_view argument = argv[number];
    if (const auto given = option(argument, "--runs=")) {
      runs = *given;
    } else if (const auto limit = option(argument, "--seconds=")) {
      seconds = *limit;
    } else if (const auto one = option(argument, "--only=")) {
      only = *one;
    } else {
      for (const fs::path& path : files_of(argument)) {
        std::ifstream file(path, std::ios::binary);
        corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
        names.push_back(path.string());
      }
    }
  }
  if (corpus.empty()) {
    std::fprintf(stderr, "no corpus; give its files or folders\n");
    return 1;
  }
  std::signal(SIGABRT, on_signal);
  if (__sanitizer_set_death_callback != nullptr) {
    __sanitizer_set_death_callback(say_what_ran);
  } else {
    std::signal(SIGSEGV, on_signal);
  }

  if (only) {
    run_mutation(*only, corpus);
    return 0;
  }
  for (std::size_t number = 0; number < corpus.size(); ++number) {
    run(corpus[number], names[number]);
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::uint64_t done = 0;
  while (done < runs && std::chrono::steady_clock::now() < end) run_mutation(done++, corpus);
  std::printf("%zu corpus files and %llu mutations: no failure\n", corpus.size(),
              static_cast<unsigned long long>(done));
  return 0;
}
