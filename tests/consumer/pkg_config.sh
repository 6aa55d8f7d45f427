#!/bin/sh
# Builds and runs a program with only a compiler and pkg-config, in a new folder.
#
#   pkg_config.sh shared|static|static-only COMPILER PREFIX PROGRAM.cc BUILD
#
# static: by plackett-static.pc, with the shared library installed too. static-only: by
# pkg-config --static, without it.
set -eu
kind=$1 compiler=$2 prefix=$3 program=$4 build=$5
command -v pkg-config >/dev/null || exit 77
unset LD_LIBRARY_PATH
rm -rf "$build"
mkdir -p "$build"
if [ "$kind" = static-only ]; then
  cp -r "$prefix" "$build/prefix"
  prefix=$build/prefix
  find "$prefix" -name 'libplackett.so*' -delete
fi
folder=$(dirname "$(find "$prefix" -name plackett.pc)")
PKG_CONFIG_PATH=$folder
export PKG_CONFIG_PATH
case $kind in
  shared) flags=$(pkg-config --cflags --libs plackett) ;;
  static) flags=$(pkg-config --cflags --libs plackett-static) ;;
  static-only) flags=$(pkg-config --cflags --libs --static plackett) ;;
esac
# shellcheck disable=SC2086
"$compiler" "$program" $flags -o "$build/program"
if [ "$kind" = shared ]; then
  ldd "$build/program" | grep -q "libplackett.*=> $prefix/"
else
  ! ldd "$build/program" | grep libplackett
fi
"$build/program"
test "$(pkg-config --modversion plackett)" = "$(sed -n 's/^set(PACKAGE_VERSION "\(.*\)")$/\1/p' \
  "$(dirname "$folder")/cmake/plackett/plackettConfigVersion.cmake")"
