// Numbers as readers see them. The same everywhere: never the machine's locale, and "–" for what
// is not a finite number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace plackett::report {

inline constexpr const char* kNoNumber = "–";

// "0.511"; never "-0.000".
std::string fixed(double value, int digits);

// The same with a sign: "+0.511"; "0.000" has none.
std::string with_sign(double value, int digits);

// "0.0032", "< 1e-300".
std::string p_value(double p);

// "p = 0.0032", "p < 1e-300".
std::string p_value(std::string_view name, double p);

// "10,000".
std::string grouped(std::uint64_t count);

// A rate per second, to three significant digits at most: "182,000", "41.3", "0.52". "–" for 0 or
// less.
std::string rate(double per_second);

// Three significant digits at most, for axes and cards: "1", "500", "1k", "2.5k", "7.5M".
std::string compact(double value);

// "0.4 ms", "41 ms", "0.4 s", "41 s", "3 min 20 s", "2 h 5 min".
std::string duration(double seconds);

}  // namespace plackett::report
