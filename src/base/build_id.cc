#include "base/build_id.h"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <cstddef>
#include <cstring>

namespace plackett {
namespace {

std::size_t round_up(std::size_t size) { return (size + 3) / 4 * 4; }

// Looks through a segment of notes.
void find_build_id(const std::byte* notes, std::size_t size, std::string& id) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof(note));
    const std::size_t whole = sizeof(note) + round_up(note.n_namesz) + round_up(note.n_descsz);
    if (whole > size) return;
    const std::byte* name = notes + sizeof(note);
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
      const std::byte* hash = name + round_up(note.n_namesz);
      for (std::size_t at = 0; at < note.n_descsz; ++at) {
        id += fmt::format("{:02x}", std::to_integer<unsigned>(hash[at]));
      }
      return;
    }
    notes += whole;
    size -= whole;
  }
}

}  // namespace

std::string build_id() {
  std::string id;
  dl_iterate_phdr(
      [](dl_phdr_info* program, std::size_t /*size*/, void* result) {
        for (int at = 0; at < program->dlpi_phnum; ++at) {
          const ElfW(Phdr)& segment = program->dlpi_phdr[at];
          if (segment.p_type != PT_NOTE) continue;
          std::string& found = *static_cast<std::string*>(result);
          if (found.empty()) {
            // NOLINTNEXTLINE(performance-no-int-to-ptr)
            find_build_id(reinterpret_cast<const std::byte*>(program->dlpi_addr + segment.p_vaddr),
                          segment.p_memsz, found);
          }
        }
        return 1;  // the program itself comes first, and is enough
      },
      &id);
  return id;
}

}  // namespace plackett
