#include "dataset/letor_files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string.h>  // NOLINT(modernize-deprecated-headers): strverscmp

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "base/file.h"

namespace plackett {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFoldPrefix = "Fold";
constexpr std::string_view kSetPrefix = "set";
constexpr std::array kEndings = std::to_array<std::string_view>({".txt", ".txt.gz"});

constexpr std::array kValidationNames =
    std::to_array<std::string_view>({"vali", "valid", "validation"});

// The path of one of a fold's files; empty if there is none.
fs::path find_part(const fs::path& folder, std::string_view part) {
  std::error_code ignored;
  for (const std::string_view ending : kEndings) {
    fs::path path = folder / fmt::format("{}{}", part, ending);
    if (fs::exists(path, ignored)) return path;
  }
  return {};
}

// What the names of a set's files start with: "set1.train.txt".
std::string prefix_of(const std::string& set) { return set + "."; }

bool holds_fold(const fs::path& folder, const std::string& prefix = "") {
  return !find_part(folder, prefix + "train").empty() ||
         !find_part(folder, prefix + "test").empty();
}

// The path of a fold's validation file; empty if there is none.
Result<fs::path> find_validation(const fs::path& folder, const std::string& prefix) {
  fs::path found;
  for (const std::string_view name : kValidationNames) {
    fs::path path = find_part(folder, fmt::format("{}{}", prefix, name));
    if (path.empty()) continue;
    if (!found.empty()) {
      return Error{fmt::format("{}: holds {} and {}; a fold has one validation file",
                               folder.string(), found.filename().string(),
                               path.filename().string())};
    }
    found = std::move(path);
  }
  return found;
}

Result<LetorFold> find_fold(const fs::path& folder, std::string name,
                            const std::string& prefix = "") {
  auto validation = find_validation(folder, prefix);
  if (!validation) return validation.error();
  LetorFold fold{std::move(name), find_part(folder, prefix + "train"), std::move(*validation),
                 find_part(folder, prefix + "test")};
  if (!fold.train.empty() && !fold.test.empty()) return fold;
  const std::string part = prefix + (fold.train.empty() ? "train" : "test");
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
    if (set.starts_with(kSetPrefix) && holds_fold(folder, prefix_of(set))) {
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

Error several(const fs::path& folder, const std::string& what,
              const std::vector<std::string>& names) {
  return Error{fmt::format("{}: holds {}; say which one: {}", folder.string(), what,
                           (folder / names.front()).string())};
}

// The only fold of a folder without Fold*.
Result<LetorFold> find_only_fold(const fs::path& folder, const std::vector<std::string>& sets) {
  if (holds_fold(folder)) return find_fold(folder, folder_name(folder));
  std::vector<std::string> below;
  for (const char* name : {"full", "sample"}) {
    if (holds_fold(folder / name)) below.emplace_back(name);
  }
  if (below.size() == 1) return find_fold(folder / below.front(), folder_name(folder));
  if (!below.empty()) return several(folder, fmt::format("{}", fmt::join(below, " and ")), below);
  if (sets.size() == 1) return find_fold(folder, sets.front(), prefix_of(sets.front()));
  if (!sets.empty()) {
    return several(folder, fmt::format("the sets {}", fmt::join(sets, ", ")), sets);
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
         holds_fold(folder_of(where), prefix_of(set));
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
    auto fold = find_fold(folder_of(where), set, prefix_of(set));
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
    auto fold = find_fold(where / name, name);
    if (!fold) return fold.error();
    folds.push_back(std::move(*fold));
  }
  return folds;
}

}  // namespace plackett
