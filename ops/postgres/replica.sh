#!/usr/bin/env bash
# Starts a streaming replica: copies the primary once, then follows it.
set -euo pipefail
export PGDATA=/var/lib/postgresql/18/replica
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  mkdir -p "$PGDATA" && chmod 0700 "$PGDATA"
  pg_basebackup --host=postgres --username=replicator --pgdata="$PGDATA" --wal-method=stream --write-recovery-conf \
    --slot=replica --create-slot
fi
exec postgres -c hot_standby=on
