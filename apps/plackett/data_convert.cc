// plackett data convert: a dataset as one cache file.
#include <chrono>
#include <filesystem>
#include <memory>
#include <string>

#include "command.h"
#include "plackett/cache.h"

namespace plackett::command {
namespace {

namespace fs = std::filesystem;

struct ConvertOptions {
  DataOptions data;
  std::string out;
  bool force = false;
};

// Refuses before reading, which may take long, what writing would refuse.
void check_target(const fs::path& out, bool force) {
  std::error_code ignored;
  if (fs::is_directory(out, ignored)) {
    fail(Error{fmt::format("{}: is a folder; give the name of a file", out.string())});
  }
  if (!force && fs::exists(out, ignored)) {
    fail(Error{fmt::format("{}: already exists; --force overwrites it", out.string())});
  }
  if (out.has_parent_path() && !fs::is_directory(out.parent_path(), ignored)) {
    fail(Error{
        fmt::format("{}: no folder {} to write it to", out.string(), out.parent_path().string())});
  }
}

void convert(const ConvertOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  check_target(options.out, options.force);
  const LoadOptions load = load_options(options.data);
  const Dataset dataset = take(load_dataset(options.data.dataset.path, load));
  take(write_cache(dataset, load, options.out));

  std::uint64_t documents = 0;
  for (const Fold& fold : dataset.folds) {
    documents += fold.train.doc_count() + fold.test.doc_count() +
                 (fold.validation ? fold.validation->doc_count() : 0);
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  fmt::print("{}: {} documents in {}, {} bytes, {:.2f} s\n", options.out, documents,
             counted(dataset.folds.size(), "fold"), fs::file_size(options.out), seconds);
}

}  // namespace

void add_data_convert(CLI::App& data) {
  auto options = std::make_shared<ConvertOptions>();
  CLI::App* command =
      data.add_subcommand("convert", "Write a dataset as one cache file that opens at once");
  command
      ->add_option("in", options->data.dataset.path,
                   "a LETOR folder, a cache file, synthetic or synthetic:PRESET")
      ->required();
  command->add_option("out", options->out, "the cache file")->required();
  add_loading_options(*command, options->data);
  command->add_flag("--force", options->force, "overwrite an existing file (default: refuse)");
  command->callback([options] { convert(*options); });
}

}  // namespace plackett::command
