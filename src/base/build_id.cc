#include "base/build_id.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "base/file.h"
#include "base/hash.h"
#include "build_id_value.h"

namespace plackett {

std::string_view build_id() { return PLACKETT_BUILD_ID; }

std::string file_id(const void* address) {
  Dl_info info{};
  link_map* object = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) == 0) return "";
  const bool program = object == nullptr || *object->l_name == '\0';
  const auto file = MappedFile::open(program ? "/proc/self/exe" : object->l_name);
  return file ? fmt::format("{:016x}", checksum(file->bytes())) : "";
}

}  // namespace plackett
