#!/usr/bin/env bash
# Writes to standard output what no chain can give back: keys, curators, delistings, what was decided about packed
# factories, the audit trail of quote updates, what trades got beside quotes, and quotes and prices by the hour. Their minutes, of
# some days, are not saved; everything else is indexed and captured again. Takes libpq's variables (PGHOST, PGUSER, PGPASSWORD, ...).
# pg_dump warns of a circular foreign key, since a key may name the one that it replaces: restore.sh reads the table in one
# statement, which checks the keys at its end.
set -euo pipefail
exec pg_dump --username="${PGUSER:-postgres}" --dbname="${PGDATABASE:-pools}" --format=custom --data-only \
  --table=operator.api_key --table=operator.curator --table=operator.delisted_pool \
  --table=operator.layout_calibration --table=operator.pamm_submission --table=operator.pamm_answer --table=history.fill \
  --table='history.quote_hour_*' --table='history.executability_hour_*' --table='history.fiat_price_hour_*' \
  --table='history.persistence_day_*'
