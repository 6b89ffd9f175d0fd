#!/usr/bin/env bash
# Starts a streaming replica: copies the primary once, then follows it. Needs PGPASSWORD, the password of `replicator`,
# and a slot of its own on the primary: the first one has `replica`, init-replication.sh shows how to make another.
set -euo pipefail
primary="${PRIMARY_HOST:-postgres}"
port="${PRIMARY_PORT:-5432}"
data="${REPLICA_DATA:-/var/lib/postgresql/18/replica}"
if [ ! -s "$data/PG_VERSION" ]; then
  # A copy that was interrupted is made again: only a whole one gets the name that is started.
  copy="$data.copy"
  rm -rf "$copy" "$data"
  mkdir -p "$(dirname "$data")"
  pg_basebackup --host="$primary" --port="$port" --username=replicator --pgdata="$copy" --wal-method=stream \
    --checkpoint=fast --slot="${REPLICATION_SLOT:-replica}" --write-recovery-conf
  chmod 0700 "$copy"
  mv "$copy" "$data"
fi
exec postgres -D "$data" -c hot_standby=on "$@"
