// One name that says what it is for, and one that does not.
#pragma once

namespace plackett {

// Documented.
int documented();

int says_nothing();

}  // namespace plackett
