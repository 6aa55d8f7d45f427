// The whole library, plus one symbol that no header declares.
#include <plackett/export.h>

namespace plackett {

PLACKETT_EXPORT int in_no_header();
int in_no_header() { return 1; }

}  // namespace plackett
