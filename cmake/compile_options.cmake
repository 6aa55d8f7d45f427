# Flags that every target of the project gets. No -march: the kernels pick their instruction
# set at run time. -ffp-contract=off keeps plain C++ arithmetic the same on every machine; the
# kernels ask for fused multiply-add by name.
# Stack traces need only line numbers; full debugging information doubles the build.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
add_library(plackett_options INTERFACE)
target_compile_options(plackett_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast
  -Woverloaded-virtual -ffp-contract=off -fno-math-errno)
if(PLACKETT_WERROR)
  target_compile_options(plackett_options INTERFACE -Werror)
endif()
if(PLACKETT_ASSERTIONS)
  target_compile_options(plackett_options INTERFACE -UNDEBUG)
endif()
if(PLACKETT_SANITIZE)
  target_compile_options(plackett_options INTERFACE
    -fsanitize=${PLACKETT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(plackett_options INTERFACE -fsanitize=${PLACKETT_SANITIZE})
endif()
