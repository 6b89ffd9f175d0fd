#!/usr/bin/env bash
# Reads a backup.sh file from standard input into a database that was migrated and is empty otherwise: all of it or nothing,
# but for the partitions of history, which are made first.
set -euo pipefail
login=(--username="${PGUSER:-postgres}" --dbname="${PGDATABASE:-pools}")
dump=$(mktemp)
trap 'rm -f "$dump"' EXIT
cat > "$dump"
pg_restore --list "$dump" | sed -nE "s/.* TABLE DATA history ([a-z_]+)_([0-9]+) .*/SELECT history.keep_partitions('\1', \2, 0);/p" |
  psql "${login[@]}" --quiet --output=/dev/null --set=ON_ERROR_STOP=1
pg_restore "${login[@]}" --data-only --single-transaction --exit-on-error "$dump"
