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

struct Search {
  ElfW(Addr) address = 0;  // somewhere in the code of the object that is looked for
  std::string id;
};

bool holds(const dl_phdr_info& object, ElfW(Addr) address) {
  for (int at = 0; at < object.dlpi_phnum; ++at) {
    const ElfW(Phdr)& segment = object.dlpi_phdr[at];
    const ElfW(Addr) begin = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && address >= begin && address - begin < segment.p_memsz) {
      return true;
    }
  }
  return false;
}

}  // namespace

std::string build_id() { return build_id_of(reinterpret_cast<const void*>(&find_build_id)); }

std::string build_id_of(const void* address) {
  Search search{.address = reinterpret_cast<ElfW(Addr)>(address), .id = {}};
  dl_iterate_phdr(
      [](dl_phdr_info* object, std::size_t /*size*/, void* data) {
        Search& sought = *static_cast<Search*>(data);
        if (!holds(*object, sought.address)) return 0;
        for (int at = 0; at < object->dlpi_phnum && sought.id.empty(); ++at) {
          const ElfW(Phdr)& segment = object->dlpi_phdr[at];
          if (segment.p_type != PT_NOTE) continue;
          // NOLINTNEXTLINE(performance-no-int-to-ptr)
          find_build_id(reinterpret_cast<const std::byte*>(object->dlpi_addr + segment.p_vaddr),
                        segment.p_memsz, sought.id);
        }
        return 1;
      },
      &search);
  return search.id;
}

}  // namespace plackett
