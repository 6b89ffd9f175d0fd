#!/usr/bin/env bash
# Run once by the postgres image on an empty data folder: the account that the replica streams with, and the slot that
# holds the log back for it while it is unreachable, up to max_slot_wal_keep_size.
set -euo pipefail
psql -v ON_ERROR_STOP=1 -v password="$REPLICATION_PASSWORD" -U postgres <<'SQL'
create role replicator with replication login password :'password';
select pg_create_physical_replication_slot('replica');
SQL
echo 'host replication replicator all scram-sha-256' >> "$PGDATA/pg_hba.conf"
