// Refusals that several calls give.
#pragma once

#include "plackett/result.h"
#include "serving/answer.h"

namespace plackett::serving {

inline Refused gone() { return {Refusal::kUnknown, "the model was removed"}; }
inline Refused invalid(const Error& error) { return {Refusal::kInvalid, error.message}; }

}  // namespace plackett::serving
