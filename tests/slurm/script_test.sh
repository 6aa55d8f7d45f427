#!/usr/bin/env bash
# scripts/slurm/compare.sbatch with a plackett and variables of the test's own: which shard a task
# does, and what it refuses.
#
#   script_test.sh SCRIPT
set -euo pipefail
script=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/plackett" <<'TEXT'
#!/bin/sh
if [ -n "$STOP" ]; then
  sleep 10 &
  trap 'kill $!; exit 130' TERM
  kill -"$STOP" $PPID
  wait
fi
echo "$@"
exit "$CODE"
TEXT
printf '#!/bin/sh\necho scontrol "$@"\n' >"$folder/scontrol"
chmod +x "$folder"/*
export PATH=$folder:$PATH

# task ID MIN MAX COUNT: runs the script as that task of an array.
task() {
  said=$(env SLURM_ARRAY_JOB_ID=9 SLURM_ARRAY_TASK_ID="$1" SLURM_ARRAY_TASK_MIN="$2" \
    SLURM_ARRAY_TASK_MAX="$3" SLURM_ARRAY_TASK_COUNT="$4" CODE="${CODE:-0}" STOP="${STOP:-}" \
    "$script" my.toml out --runs 5 2>&1) && code=0 || code=$?
}
# expect CODE TEXT: what the last one did.
expect() {
  [ "$code" -eq "$1" ] && [[ $said == *"$2"* ]] && return
  echo "script_test: exit code $code, expected $1; said: $said; expected: $2" >&2
  exit 1
}

task 3 1 16 16
expect 0 'compare --spec my.toml --out out --shard 3/16 --threads 1 --runs 5'
SLURM_CPUS_PER_TASK=8 task 3 1 16 16
expect 0 '--threads 8'
SHARDS=16 task 3 3 7 2
expect 0 '--shard 3/16'
CODE=1 task 3 1 16 16
expect 1 'compare'

task 3 3 7 2 # --array=3,7
expect 2 'say of how many shards'
task 1 1 15 8 # --array=1-15:2
expect 2 'say of how many shards'
task 0 0 15 16 # --array=0-15
expect 2 'say of how many shards'
SHARDS=16 task 17 17 17 1
expect 2 'task 17 is not one of the shards 1 to 16'
SHARDS=16 task 0 0 15 16
expect 2 'task 0 is not one of the shards 1 to 16'
SHARDS=many task 1 1 2 2
expect 2 'SHARDS=many; expected an integer from 1'
PLACKETT=/nowhere/plackett task 1 1 2 2
expect 2 'no program /nowhere/plackett'
said=$("$script" my.toml out 2>&1) && code=0 || code=$?
expect 2 'submit it with --array'

STOP=TERM task 3 1 16 16
expect 130 ''
[[ $said != *scontrol* ]] || expect 130 'no scontrol: Slurm requeues it, or it was cancelled'
STOP=USR1 task 3 1 16 16
expect 130 'scontrol requeue 9_3'
STOP=USR1 SLURM_RESTART_COUNT=20 task 3 1 16 16
[[ $said != *scontrol* ]] || expect 130 'no scontrol after 20 restarts'
