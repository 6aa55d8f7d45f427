#include "dataset/letor_files.h"

#include <fmt/format.h>
#include <libdeflate.h>
#include <string.h>  // NOLINT(modernize-deprecated-headers): strverscmp

#include <algorithm>
#include <memory>

#include "base/file.h"

namespace plackett {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFoldPrefix = "Fold";
// Deflate compresses at most 1032 bytes into one.
constexpr std::size_t kMostUnpacked = 1032;
constexpr std::size_t kSmallestMember = 18;

// The path of one of a fold's files; empty if there is none.
fs::path find_part(const fs::path& folder, std::string_view part) {
  std::error_code ignored;
  for (const std::string_view ending : {".txt", ".txt.gz"}) {
    fs::path path = folder / fmt::format("{}{}", part, ending);
    if (fs::exists(path, ignored)) return path;
  }
  return {};
}

}  // namespace

std::string folder_name(const fs::path& folder) {
  std::error_code ignored;
  fs::path path = fs::absolute(folder, ignored).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  return path.filename().string();
}

Result<std::vector<LetorFold>> find_letor_folds(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    const std::string name = at->path().filename().string();
    if (name.starts_with(kFoldPrefix) && at->is_directory(ignored)) names.push_back(name);
  }
  if (error) return system_error(folder, "can't list the folder", error.value());
  std::sort(names.begin(), names.end(), [](const std::string& one, const std::string& other) {
    return ::strverscmp(one.c_str(), other.c_str()) < 0;  // Fold2 before Fold10
  });

  if (names.empty()) names.emplace_back();  // the folder itself
  std::vector<LetorFold> folds;
  for (const std::string& name : names) {
    const fs::path path = name.empty() ? folder : folder / name;
    const LetorFold& fold = folds.emplace_back(
        LetorFold{name.empty() ? folder_name(folder) : name, find_part(path, "train"),
                  find_part(path, "vali"), find_part(path, "test")});
    if (name.empty() && fold.train.empty() && fold.test.empty()) {
      return Error{fmt::format(
          "{}: no dataset in this folder; looked for {}*/train.txt, {}*/train.txt.gz, train.txt "
          "and train.txt.gz",
          folder.string(), kFoldPrefix, kFoldPrefix)};
    }
    if (fold.train.empty() || fold.test.empty()) {
      const std::string_view part = fold.train.empty() ? "train" : "test";
      return Error{fmt::format("{}: no {}.txt or {}.txt.gz; a fold needs train and test",
                               path.string(), part, part)};
    }
  }
  return folds;
}

Result<std::string> unpack_gzip(std::span<const std::byte> packed, const std::string& path) {
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> unpacker(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (!unpacker) return Error{ErrorCode::kUnavailable, fmt::format("{}: out of memory", path)};

  std::string text;
  std::size_t used = 0;     // of packed
  std::size_t written = 0;  // of text
  text.resize(std::max<std::size_t>(packed.size() * 8, 4096));
  while (used < packed.size() || used == 0) {
    const auto rest = packed.subspan(used);
    const bool padding =
        std::all_of(rest.begin(), rest.end(), [](std::byte byte) { return byte == std::byte{0}; });
    if (used > 0 && padding) break;
    std::size_t took = 0;
    std::size_t gave = 0;
    const libdeflate_result result =
        libdeflate_gzip_decompress_ex(unpacker.get(), rest.data(), rest.size(),
                                      text.data() + written, text.size() - written, &took, &gave);
    const bool may_grow = text.size() - written <= rest.size() * kMostUnpacked;
    if (result == LIBDEFLATE_INSUFFICIENT_SPACE && may_grow) {
      text.resize(text.size() * 2);
      continue;
    }
    if (result != LIBDEFLATE_SUCCESS || took < kSmallestMember) {
      return Error{fmt::format(
          "{}: truncated or corrupt gzip data; the member at byte {} of {} does not unpack", path,
          used, packed.size())};
    }
    used += took;
    written += gave;
  }
  text.resize(written);
  return text;
}

}  // namespace plackett
