#include "experiment/made_by.h"

#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>

#include "base/build_id.h"
#include "base/kernels.h"
#include "experiment/results_files.h"
#include "plackett/method.h"

namespace plackett {
namespace {

// An address in the program or shared library that defines a method.
const void* code_of(const decltype(Method::make)& make) {
  using Plain = std::unique_ptr<Learner> (*)(std::unique_ptr<Ranker>, const MethodRules&,
                                             const SettingValues&);
  if (const auto* plain = make.target<Plain>()) return reinterpret_cast<const void*>(*plain);
  return &make.target_type();  // a class of the caller's own: its type information
}

// What a run's bits depend on besides spec and data: keys and values. All instruction sets with
// fused multiply-add agree. A method that a program added is identified by the file that holds its
// code.
using MadeBy = std::map<std::string, std::string>;

MadeBy made_by(const std::vector<StoredCell>& cells) {
  const std::string_view kernels_name = kernels().name;
  const bool fused = kernels_name == "avx2" || kernels_name == "avx512";
  MadeBy made{{"build", std::string(build_id())},
              {"arithmetic", std::string(fused ? "fused" : kernels_name)}};
  for (const StoredCell& cell : cells) {
    const std::string& name = cell.simulation.method;
    const auto found = find_method(name);
    if (!found || is_built_in(*found.value())) continue;
    made.try_emplace("method " + name, file_id(code_of(found.value()->make)));
  }
  return made;
}

MadeBy parse_made_by(std::string_view text) {
  MadeBy made;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const std::size_t space = line.rfind(' ');
    if (space == std::string_view::npos) continue;
    made.emplace(line.substr(0, space), line.substr(space + 1));
  }
  return made;
}

}  // namespace

Result<void> claim_made_by(const std::filesystem::path& folder, const StoredResults& stored,
                           const std::vector<StoredCell>& cells) {
  const auto text = read_if_there(folder / kMadeByName);
  if (!text) return text.error();
  MadeBy all = stored.finished() > 0 ? parse_made_by(*text) : MadeBy();
  for (const auto& [key, value] : made_by(cells)) {
    if (all.try_emplace(key, value).first->second == value) continue;
    return Error{ErrorCode::kConflict,
                 fmt::format("{}: its runs were made by another build of plackett or on another "
                             "kind of processor, and may differ from what this one gives; {}",
                             folder.string(), kStartOver),
                 Hint::kOtherFolderOrFresh};
  }
  std::string lines;
  for (const auto& [key, value] : all) lines += fmt::format("{} {}\n", key, value);
  return write_if_changed(folder / kMadeByName, lines);
}

}  // namespace plackett
