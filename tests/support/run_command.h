// Runs the plackett command as a user would.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace plackett::testing {

// A temporary folder, removed on destruction.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "plackett-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::string operator/(const std::string& name) const {
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

struct CommandResult {
  int exit_code = -1;
  std::string out;
  std::string err;
};

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// `plackett ARGUMENTS` through the shell, with `input` on standard input; `environment` is put
// before the command, as in "NAME=value".
inline CommandResult run_command(const std::string& arguments, const std::string& input = "",
                                 const std::string& environment = "") {
  const TemporaryFolder folder;
  std::ofstream(folder.path() / "in", std::ios::binary) << input;
  const std::string line = environment + " '" PLACKETT_COMMAND "' " + arguments + " <'" +
                           folder / "in" + "' >'" + folder / "out" + "' 2>'" + folder / "err" + "'";
  const int status = std::system(line.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(folder / "out"),
          slurp(folder / "err")};
}

}  // namespace plackett::testing
