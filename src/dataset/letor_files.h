// Where a LETOR dataset's files lie, and their text.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "plackett/result.h"

namespace plackett {

struct LetorFold {
  std::string name;
  std::filesystem::path train;
  std::optional<std::filesystem::path> validation;
  std::filesystem::path test;
};

// The folds in `folder`: one for each subfolder Fold* (Fold2 before Fold10), or the folder
// itself where it has none. train.txt.gz serves where train.txt is absent; so for vali and test.
Result<std::vector<LetorFold>> find_letor_folds(const std::filesystem::path& folder);

// A file's text: mapped, or unpacked into memory where the name ends in .gz. Moves.
class LetorFile {
 public:
  static Result<LetorFile> open(const std::filesystem::path& path);
  [[nodiscard]] std::string_view text() const;

 private:
  MappedFile mapped_;
  std::optional<std::string> unpacked_;
};

// Unpacks gzip data: one member or several, then nothing but zero bytes. `path` is named in
// errors.
Result<std::string> unpack_gzip(std::span<const std::byte> packed, const std::string& path);

// Whether `left` comes before `right` where runs of digits compare as numbers.
bool natural_less(std::string_view left, std::string_view right);

}  // namespace plackett
