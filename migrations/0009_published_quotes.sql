-- Whether quote updates that come with the key may become live quotes of this service: its holder said so. An update is its
-- maker's secret otherwise.
ALTER TABLE operator.api_key ADD COLUMN publishes_quotes boolean NOT NULL DEFAULT false;

-- What the API learns of a key in use: its holder, and whether it publishes quotes. Null for any other key. An API of before this
-- file calls `holder_of_key` itself.
CREATE FUNCTION operator.find_key(hash bytea) RETURNS jsonb
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT jsonb_build_object('holder', first.key_id, 'publishesQuotes', k.publishes_quotes)
  FROM operator.holder_of_key(hash) AS first (key_id) JOIN operator.api_key k ON k.key_hash = hash
  WHERE first.key_id IS NOT NULL
$$;
REVOKE EXECUTE ON FUNCTION operator.find_key FROM PUBLIC;
GRANT EXECUTE ON FUNCTION operator.find_key TO ptd_api;
