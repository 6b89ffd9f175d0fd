SELECT ts, usd FROM unnest($3::int8[]) ts, LATERAL history.usd_at($1, $2, ts) usd WHERE usd IS NOT NULL
