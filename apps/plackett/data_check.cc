// plackett data check: whether a dataset is the one that was published.
#include <openssl/evp.h>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/gzip.h"
#include "command.h"
#include "data_commands.h"
#include "plackett/cache.h"
#include "plackett/published_data.h"
#include "report/numbers.h"

namespace plackett::command {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::string_view kChecksumOf = "SHA-256 of ";

struct CheckOptions {
  std::string name;
  DataOptions data;
  bool json = false;
};

// What was compared.
struct CheckedFact {
  std::string what;
  std::string published;
  std::string found;

  [[nodiscard]] bool agrees() const { return published == found; }
};

// 64 digits.
std::string sha256(std::span<const std::byte> bytes) {
  std::array<unsigned char, 32> digest{};
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr) != 1) {
    fail(Error{ErrorCode::kUnavailable, "SHA-256: can't hash"});
  }
  return fmt::format("{:02x}", fmt::join(digest, ""));
}

// A missing file is found as "missing"; one that is there with .gz alone is unpacked.
CheckedFact compare_file(const PublishedFile& file, const fs::path& path) {
  CheckedFact fact{fmt::format("{}{}", kChecksumOf, file.path), std::string(file.sha256),
                   "missing"};
  const std::string packed = path.string() + ".gz";
  std::error_code ignored;
  if (fs::exists(path, ignored)) {
    fact.found = sha256(take(MappedFile::open(path)).bytes());
  } else if (fs::exists(packed, ignored)) {
    const std::string text = take(unpack_gzip(take(MappedFile::open(packed)).bytes(), packed));
    fact.found = sha256(std::as_bytes(std::span(text)));
  }
  return fact;
}

std::vector<CheckedFact> compare_archive(const PublishedData& published, const std::string& path) {
  if (published.archive.sha256.empty()) {
    fail(
        Error{fmt::format("{}: no checksum of {}'s archive is published; unpack it and give the "
                          "folder",
                          path, published.name)});
  }
  return {{"bytes", report::grouped(published.archive.bytes), report::grouped(fs::file_size(path))},
          compare_file(published.archive, path)};
}

std::vector<CheckedFact> compare_data(const PublishedData& published, const DataOptions& data) {
  std::vector<CheckedFact> all;
  LoadOptions load = load_options(data);
  load.scaling = Scaling::kNone;
  load.out_of_range = OutOfRange::kMissing;
  const fs::path path = data.dataset.path;
  const Dataset dataset = is_cache(path) ? take(open_cache(path, {.threads = load.threads})).dataset
                                         : take(load_dataset(data.dataset.path, load));
  for (const PublishedFact& fact : compare_with(published, dataset)) {
    all.push_back({fact.what, report::grouped(fact.published), report::grouped(fact.found)});
  }
  if (!fs::is_directory(path)) return all;
  const fs::path name = fs::canonical(path).filename();
  for (const PublishedFile& file : published.files) {
    // Istella's are in full or sample, which may be the folder that was given.
    const fs::path relative = file.path;
    const bool inside = *relative.begin() == name && !fs::exists(path / relative);
    all.push_back(compare_file(file, path / (inside ? relative.filename() : relative)));
  }
  return all;
}

void check(const CheckOptions& options) {
  const PublishedData& published = *take(find_published(options.name));
  const std::string& path = options.data.dataset.path;
  const bool archive = fs::is_regular_file(path) && !is_cache(path);
  const auto all =
      archive ? compare_archive(published, path) : compare_data(published, options.data);
  const auto differing = static_cast<std::uint64_t>(
      std::count_if(all.begin(), all.end(), [](const CheckedFact& one) { return !one.agrees(); }));
  const bool hashed = std::any_of(all.begin(), all.end(), [](const CheckedFact& one) {
    return one.what.starts_with(kChecksumOf);
  });
  const std::string checksums = published.checksums_source.empty()
                                    ? "no list of checksums is published"
                                    : std::string(published.checksums_source);
  if (options.json) {
    Json facts = Json::array();
    for (const CheckedFact& one : all) {
      facts.push_back({{"what", one.what},
                       {"published", one.published},
                       {"found", one.found},
                       {"agrees", one.agrees()}});
    }
    print_json({{"name", published.name},
                {"path", path},
                {"agrees", differing == 0},
                {"checksums_compared", hashed},
                {"facts", std::move(facts)},
                {"counts_source", published.counts_source},
                {"checksums_source", checksums}});
  } else {
    for (const CheckedFact& one : all) {
      if (one.agrees()) {
        fmt::print("agrees   {}: {}\n", one.what, one.found);
      } else {
        fmt::print("DIFFERS  {}: {}; published {}\n", one.what, one.found, one.published);
      }
    }
    std::string verdict =
        hashed ? fmt::format("{} is {} as published", path, published.name)
               : fmt::format("{} has the counts of {} as published; no checksum was compared", path,
                             published.name);
    if (differing > 0) {
      verdict = fmt::format("{} is not {} as published: {} of {} facts differ", path,
                            published.name, differing, all.size());
    }
    fmt::print("\n{}\n", verdict);
    fmt::print("counts: {}\nchecksums: {}\n", published.counts_source, checksums);
  }
  if (differing > 0) throw Exit(kNegative, "");
}

}  // namespace

void add_check(CLI::App& data) {
  std::vector<std::string_view> names;
  for (const PublishedData& one : published_data()) names.push_back(one.name);
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command =
      data.add_subcommand("check", "Compare a dataset with what is published of it");
  command->add_option("name", options->name, fmt::format("which: {}", fmt::join(names, ", ")))
      ->required();
  command
      ->add_option("path", options->data.dataset.path,
                   "its folder, a cache of it, or the archive as it was downloaded")
      ->required();
  add_options(*command, run_options(), options->data.run, {"threads"});
  command->add_flag("--json", options->json, "print one JSON object");
  command->callback([options] { check(*options); });
}

}  // namespace plackett::command
