UPDATE operator.price_health h SET gas_token0_in = s."token0In", gas_token1_in = s."token1In", gas_at = now()
FROM json_to_recordset($2) AS s (pool text, "token0In" int4, "token1In" int4)
WHERE h.chain_id = $1 AND h.pool = s.pool
