// Marks what a shared library shows to those who link it: the names of these headers, nothing else.
#pragma once

// Stands before every function and class that the shared library shows.
#define PLACKETT_EXPORT __attribute__((visibility("default")))
