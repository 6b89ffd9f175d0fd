SELECT block_number || '-' || log_index AS place, quoted_out_raw::text AS "quotedOut", vs_quote_bps::float8 AS "vsQuoteBps"
FROM read_model.swap_fills()
WHERE chain_id = $1 AND pool = $2 AND block_timestamp BETWEEN $3 AND $4
