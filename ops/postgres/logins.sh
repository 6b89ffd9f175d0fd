#!/usr/bin/env bash
# Gives each process a login of its own, which may act as its group alone: run it after `migrate`, as the login of that.
# Run again, it changes their passwords. Takes libpq's variables (PGHOST, PGUSER, PGPASSWORD, PGDATABASE) and a password
# for each: INDEXER_PASSWORD, CAPTURE_PASSWORD, API_PASSWORD, BUILDERS_PASSWORD, OPERATOR_PASSWORD.
set -euo pipefail
for login in indexer capture api builders operator; do
  variable="${login^^}_PASSWORD"
  # psql reads it from its environment, since others see its arguments.
  LOGIN_PASSWORD="${!variable:?}" psql --quiet -v ON_ERROR_STOP=1 -v login="$login" -v group="ptd_$login" \
    --username="${PGUSER:-postgres}" --dbname="${PGDATABASE:-pools}" <<'SQL'
\getenv password LOGIN_PASSWORD
select format('create role %I', :'login') where to_regrole(:'login') is null \gexec
alter role :"login" login password :'password';
grant :"group" to :"login";
SQL
done
