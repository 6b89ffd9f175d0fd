INSERT INTO history.fill (chain_id, block_number, log_index, transaction_hash, pool, block_timestamp, zero_for_one, in_raw,
  parent_hash, quoted_out_raw)
SELECT $1, s."blockNumber", s."logIndex", s."transactionHash", s.pool, s."blockTimestamp", s."zeroForOne", s."inRaw", $2,
       s."quotedOutRaw"
FROM json_to_recordset($3) AS s ("blockNumber" int8, "logIndex" int4, "transactionHash" text, pool text,
  "blockTimestamp" int8, "zeroForOne" boolean, "inRaw" numeric, "quotedOutRaw" numeric)
ON CONFLICT (chain_id, block_number, log_index, transaction_hash) DO UPDATE
  SET zero_for_one = excluded.zero_for_one, in_raw = excluded.in_raw, parent_hash = excluded.parent_hash,
      quoted_out_raw = excluded.quoted_out_raw, is_final = false
