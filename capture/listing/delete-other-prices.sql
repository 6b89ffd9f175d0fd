DELETE FROM operator.listing_price p
WHERE NOT EXISTS (
  SELECT FROM unnest($1::int8[], $2::text[]) AS k (chain_id, token) WHERE k.chain_id = p.chain_id AND k.token = p.token)
