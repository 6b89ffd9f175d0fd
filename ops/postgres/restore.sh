#!/usr/bin/env bash
# Reads a backup.sh file from standard input into a database that was migrated and is empty otherwise: all of it or nothing.
set -euo pipefail
exec pg_restore --username="${PGUSER:-postgres}" --dbname="${PGDATABASE:-pools}" --data-only --single-transaction \
  --exit-on-error
