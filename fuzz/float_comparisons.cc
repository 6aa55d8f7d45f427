// g++ reports comparisons of floating-point numbers too, which libFuzzer does not know.
// NOLINTBEGIN(readability-identifier-naming, bugprone-reserved-identifier): g++'s names
extern "C" void __sanitizer_cov_trace_cmpf(float, float);
extern "C" void __sanitizer_cov_trace_cmpd(double, double);
extern "C" void __sanitizer_cov_trace_cmpf(float, float) {}
extern "C" void __sanitizer_cov_trace_cmpd(double, double) {}
// NOLINTEND(readability-identifier-naming, bugprone-reserved-identifier)
