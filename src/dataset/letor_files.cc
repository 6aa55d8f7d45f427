#include "dataset/letor_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <libdeflate.h>
#include <string.h>  // NOLINT(modernize-deprecated-headers): strverscmp

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <utility>

#include "base/file.h"

namespace plackett {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFoldPrefix = "Fold";
constexpr std::string_view kSetPrefix = "set";
constexpr std::array kEndings = std::to_array<std::string_view>({".txt", ".txt.gz"});
// Deflate compresses at most 1032 bytes into one.
constexpr std::size_t kMostUnpacked = 1032;
constexpr std::size_t kSmallestMember = 18;

// What the files of a fold are called, without .txt or .txt.gz.
struct FileNames {
  std::string train = "train";
  std::string validation = "vali";
  std::string test = "test";
};
FileNames names_of_set(const std::string& set) {
  return {set + ".train", set + ".valid", set + ".test"};
}

// The path of one of a fold's files; empty if there is none.
fs::path find_part(const fs::path& folder, std::string_view part) {
  std::error_code ignored;
  for (const std::string_view ending : kEndings) {
    fs::path path = folder / fmt::format("{}{}", part, ending);
    if (fs::exists(path, ignored)) return path;
  }
  return {};
}

bool holds_fold(const fs::path& folder, const FileNames& names) {
  return !find_part(folder, names.train).empty() || !find_part(folder, names.test).empty();
}

Result<LetorFold> find_fold(const fs::path& folder, std::string name, const FileNames& names) {
  LetorFold fold{std::move(name), find_part(folder, names.train),
                 find_part(folder, names.validation), find_part(folder, names.test)};
  if (!fold.train.empty() && !fold.test.empty()) return fold;
  const std::string_view part = fold.train.empty() ? names.train : names.test;
  return Error{fmt::format("{}: no {}.txt or {}.txt.gz; a fold needs train and test",
                           folder.string(), part, part)};
}

// What a folder holds besides the files of a fold.
struct Contents {
  std::vector<std::string> folds;  // Fold*
  std::vector<std::string> sets;   // set1, if there is a set1.train.txt or set1.test.txt
};

Result<Contents> list(const fs::path& folder) {
  std::set<std::string> sets;
  Contents found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code ignored;
    const std::string name = at->path().filename().string();
    if (name.starts_with(kFoldPrefix) && at->is_directory(ignored)) found.folds.push_back(name);
    std::string set = name.substr(0, name.find('.'));
    if (set.starts_with(kSetPrefix) && holds_fold(folder, names_of_set(set))) {
      sets.insert(std::move(set));
    }
  }
  if (error) return system_error(folder, "can't list the folder", error.value());
  std::sort(found.folds.begin(), found.folds.end(),
            [](const std::string& one, const std::string& other) {
              return ::strverscmp(one.c_str(), other.c_str()) < 0;  // Fold2 before Fold10
            });
  found.sets.assign(sets.begin(), sets.end());
  return found;
}

// The only fold of a folder without Fold*.
Result<LetorFold> find_only_fold(const fs::path& folder, const std::vector<std::string>& sets) {
  const FileNames names;
  for (const std::string_view below : {"", "full", "sample"}) {
    const fs::path path = below.empty() ? folder : folder / below;
    if (holds_fold(path, names)) return find_fold(path, folder_name(folder), names);
  }
  if (sets.size() == 1) return find_fold(folder, sets.front(), names_of_set(sets.front()));
  if (!sets.empty()) {
    return Error{fmt::format("{}: holds the sets {}; say which one: {}", folder.string(),
                             fmt::join(sets, ", "), (folder / sets.front()).string())};
  }
  return Error{fmt::format(
      "{}: no dataset in this folder; looked for {}*/train.txt, train.txt, full/train.txt, "
      "sample/train.txt and {}*.train.txt, also with .gz",
      folder.string(), kFoldPrefix, kSetPrefix)};
}

// The path without a slash at its end.
fs::path trimmed(const fs::path& path) { return path.has_filename() ? path : path.parent_path(); }

fs::path folder_of(const fs::path& path) { return trimmed(path).parent_path(); }

// Whether nothing lies at `where` but the files of a set that has its name, as in FOLDER/set1.
bool names_set(const fs::path& where) {
  std::error_code ignored;
  const std::string set = trimmed(where).filename().string();
  return set.starts_with(kSetPrefix) && !fs::exists(trimmed(where), ignored) &&
         holds_fold(folder_of(where), names_of_set(set));
}

}  // namespace

std::string folder_name(const fs::path& folder) {
  std::error_code ignored;
  return trimmed(fs::absolute(folder, ignored).lexically_normal()).filename().string();
}

bool is_letor(const fs::path& where) {
  std::error_code ignored;
  return fs::is_directory(where, ignored) || names_set(where);
}

Result<std::vector<LetorFold>> find_letor_folds(const fs::path& where) {
  if (names_set(where)) {
    const std::string set = folder_name(where);
    auto fold = find_fold(folder_of(where), set, names_of_set(set));
    if (!fold) return fold.error();
    return std::vector{std::move(*fold)};
  }
  const auto found = list(where);
  if (!found) return found.error();
  if (found->folds.empty()) {
    auto fold = find_only_fold(where, found->sets);
    if (!fold) return fold.error();
    return std::vector{std::move(*fold)};
  }
  std::vector<LetorFold> folds;
  for (const std::string& name : found->folds) {
    auto fold = find_fold(where / name, name, {});
    if (!fold) return fold.error();
    folds.push_back(std::move(*fold));
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
