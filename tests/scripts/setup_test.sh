#!/usr/bin/env bash
# scripts/setup with an apt-get and a dpkg-query of the test's own: it installs what is missing, and
# changes nothing if that would remove a package.
#
#   setup_test.sh SETUP
set -euo pipefail
setup=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/bin"
cat >"$folder/bin/dpkg-query" <<'TEXT'
#!/bin/sh
exit 1
TEXT
cat >"$folder/bin/apt-get" <<'TEXT'
#!/bin/sh
echo "$@" >>"$CALLS"
case $1 in
  -s) [ -z "$REMOVES" ] || echo "Remv $REMOVES [1.74.0] (1.81.0 Debian [amd64])" ;;
  install) case " $* " in *" --no-remove "*) ;; *) exit 1 ;; esac ;;
esac
TEXT
printf '#!/bin/sh\nexec "$@"\n' >"$folder/bin/sudo"
chmod +x "$folder"/bin/*
export CALLS=$folder/calls PATH=$folder/bin:$PATH

fail() {
  echo "setup_test: $1" >&2
  cat "$folder/said" "$CALLS" >&2
  exit 1
}

REMOVES='' "$setup" >"$folder/said" 2>&1 || fail "a set-up that removes nothing failed"
grep -q '^install ' "$CALLS" || fail "nothing was installed"

: >"$CALLS"
if REMOVES=libboost1.74-dev "$setup" >"$folder/said" 2>&1; then
  fail "a set-up that would remove a package succeeded"
fi
grep -q 'would remove libboost1.74-dev; nothing was changed' "$folder/said" || fail "it names no package"
if grep -q '^install ' "$CALLS"; then fail "something was installed"; fi
