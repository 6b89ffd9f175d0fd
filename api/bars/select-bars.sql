SELECT start_ts::float8 AS "startTs", open_price::text[] AS open, high_price::text[] AS high, low_price::text[] AS low,
  close_price::text[] AS close, volume0_raw::text AS "volume0Raw", volume1_raw::text AS "volume1Raw",
  volume_usd AS "volumeUsd", swap_count::float8 AS "swapCount", is_final AS "isFinal"
FROM read_model.trade_bars($1, $2, $3, $4, $5) ORDER BY start_ts DESC LIMIT $6
