#!/usr/bin/env bash
# One of two PostgreSQL servers, of which one is the primary and the other one its synchronous standby,
# in the image postgres:15. compose.yaml and ../kubernetes/plackett-database.yaml run it.
#
#   database.sh           runs the server
#   database.sh promote   makes the standby the primary; the old primary must not run any more
#
# What it is follows from its data: it is a standby while standby.signal is there. Without data it copies
# the other server, if that is a primary. Only CREATE=1 makes a new database.
#
# A primary whose commits wait for the other server starts only once that says that it is a standby. So
# one that was replaced does not take writes again, whenever it comes back. ALONE=1 starts it without: only
# if the other server is gone for good.
#
#   NAME           this server's, of small letters and underscores, as synchronous_standby_names has it
#   OTHER          the other server: host=NAME
#   PGDATA         its parent folder must be writable
#   PASSWORD_FILE  of the role plackett
#   HBA_FILE       who may connect
set -euo pipefail
umask 077

say() { printf 'database.sh: %s\n' "$1" >&2; }

# pg_basebackup writes this name into the standby's settings.
export PGPASSFILE=${TMPDIR:-/tmp}/pgpass PGCONNECT_TIMEOUT=2
printf '*:*:*:plackett:%s\n' "$(cat "$PASSWORD_FILE")" > "$PGPASSFILE"

ask() { psql -X -q -A -t -v ON_ERROR_STOP=1 -d "$OTHER user=plackett dbname=postgres" "$@"; }

# primary, standby, or nothing if it does not answer.
role_of_other() {
  case $(ask -c 'SELECT pg_is_in_recovery()' 2> /dev/null || true) in
    t) echo standby ;;
    f) echo primary ;;
  esac
}

# $1: why. The words of a state are said once.
said=
wait_because() {
  if [ "$said" != "$1" ]; then say "$1"; fi
  said=$1
  sleep 1
}

# Beside PGDATA, which is there only when it is whole.
copy_other() {
  rm -rf "$PGDATA.new"
  pg_basebackup -d "$OTHER user=plackett application_name=$NAME" -D "$PGDATA.new" \
    --write-recovery-conf --wal-method=stream --checkpoint=fast || return 1
  # The primary's own: a standby that is promoted must not wait for itself.
  sed -i '/^synchronous_standby_names/d' "$PGDATA.new/postgresql.auto.conf"
  mv "$PGDATA.new" "$PGDATA"
}

if [ "${1:-}" = promote ]; then
  if [ "$(role_of_other)" = primary ]; then
    say "the other server is a primary; stop it first, or both would take writes"
    exit 1
  fi
  exec pg_ctl promote -w -D "$PGDATA"
fi

until [ -s "$PGDATA/PG_VERSION" ]; do
  if [ "$(role_of_other)" = primary ]; then
    copy_other || wait_because "the copy failed; it is made again"
  elif [ -n "${CREATE:-}" ]; then
    break
  else
    wait_because "no data, and the other server is no primary to copy; CREATE=1 makes a new database"
  fi
done

own=$PGDATA/postgresql.auto.conf
if [ -f "$PGDATA/standby.signal" ]; then
  sed -i '/^synchronous_standby_names/d' "$own"
  # At every start: the primary may have gone on alone.
  until [ "$(role_of_other)" != primary ] || {
    ask -c "ALTER SYSTEM SET synchronous_standby_names = 'FIRST 1 ($NAME)'" &&
      ask -c 'SELECT pg_reload_conf()' > /dev/null
  }; do
    wait_because "the primary does not take the name of its standby"
  done
elif [ -n "${ALONE:-}" ]; then
  if [ -f "$own" ]; then sed -i '/^synchronous_standby_names/d' "$own"; fi
elif [ -f "$own" ]; then
  waits=$(grep -c "^synchronous_standby_names = '.*[^ '].*'" "$own" || true)
  while :; do
    other=$(role_of_other)
    if [ "$other" = primary ]; then
      say "the other server has become the primary: remove this one's data, so that it copies that one"
      exit 1
    fi
    if [ "$other" = standby ] || [ "$waits" = 0 ]; then break; fi
    wait_because "a primary starts when its standby says that it is one; ALONE=1 starts it without"
  done
fi

# Not synchronous_standby_names: ALTER SYSTEM could not change it.
exec docker-entrypoint.sh postgres -c "hba_file=$HBA_FILE" -c synchronous_commit=on \
  -c max_connections=100 -c wal_keep_size=1GB "${@:1}"
