// Refusals that several calls give.
#pragma once

#include "plackett/result.h"

namespace plackett::serving {

inline Error gone() { return {ErrorCode::kNotFound, "the model was removed"}; }
inline Error invalid(const Error& error) { return {ErrorCode::kInvalid, error.message}; }

}  // namespace plackett::serving
