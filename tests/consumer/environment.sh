#!/bin/sh
# Builds and runs a program by pkg-config and by CMake with only the environment that
# scripts/environment prints; the prefix has a space in its name.
#
#   environment.sh SCRIPT COMPILER PREFIX SOURCE BUILD
set -eu
script=$1 compiler=$2 prefix=$3 source=$4 build=$5
command -v pkg-config >/dev/null || exit 77
rm -rf "$build"
mkdir -p "$build"
cp -r "$prefix" "$build/a prefix"
cd "$build"
env -i HOME="$build" PATH="$PATH" CXX="$compiler" sh -euc '
  eval "$("$1" "$2")"
  plackett --version
  eval "\"\$CXX\" \"\$3/program.cc\" $(pkg-config --cflags --libs plackett) -o program"
  ./program
  cmake -S "$3/shared" -B out
  cmake --build out --parallel 1
  out/program' sh "$script" "$build/a prefix" "$source"
mkdir empty
if "$script" empty 2>said; then exit 1; fi
grep "not installed there" said
