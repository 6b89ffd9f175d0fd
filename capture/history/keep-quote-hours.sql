SELECT history.keep_partitions('quote_hour', day, $2) FROM generate_series($1::int8, $3::int8, 86400) day
