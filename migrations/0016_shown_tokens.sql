-- What tokens say of themselves is anyone's to choose. `live.token` has it as it was read; readers see it by these rules.
SET LOCAL check_function_bodies = off;

-- At most 64 characters that neither hide nor turn the text around them, and that are safe in JSON, CSV and HTML. Ordinary
-- text is as it was.
--   1. Control characters, and those that Unicode lets programs leave out (directions, joiners, fillers, variation
--      selectors, tags), are removed. Private use and noncharacters too.
--   2. White space of any kind and length becomes one space; there is none at the ends.
--   3. < > & " ' ` , ; become characters that look alike and mean nothing.
--   4. = + - @ at the beginning, which make formulas of cells, are removed.
--   5. The first 64 characters are kept. Null when nothing is left.
CREATE FUNCTION read_model.shown_text(raw text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN raw ~ '^[A-Za-z0-9][A-Za-z0-9._$]{0,63}$' THEN raw ELSE nullif(rtrim(left(
    regexp_replace(
      translate(
        regexp_replace(
          regexp_replace(
            raw,
            '[\u0001-\u0008\u000e-\u001f\u007f-\u0084\u0086-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f'
              '\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ue000-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb'
              '\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff\U000f0000-\U0010ffff]',
            '', 'g'
          ),
          '[\u0009-\u000d\u0020\u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+', ' ', 'g'
        ),
        '<>&"''`,;', '‹›＆”’‘‚；'
      ),
      '^[ =+@-]+', ''
    ), 64)), '') END
$$;

-- More decimals than any token has are not known, rather than believed.
CREATE FUNCTION read_model.shown_decimals(raw int4) RETURNS int4
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$ SELECT CASE WHEN raw <= 36 THEN raw END $$;

CREATE OR REPLACE FUNCTION read_model.token_rows()
RETURNS TABLE (chain_id int8, address text, symbol text, name text, decimals int4)
LANGUAGE sql STABLE AS $$
  SELECT chain_id, address, read_model.shown_text(symbol), read_model.shown_text(name), read_model.shown_decimals(decimals)
  FROM live.token
$$;

CREATE OR REPLACE FUNCTION read_model.pool_rows()
RETURNS TABLE (
  chain_id int8, address text, factory text, pool_idx numeric, pair text, token0 text, token1 text,
  token0_symbol text, token1_symbol text, token0_decimals int4, token1_decimals int4,
  token0_scale_multiplier numeric, token1_scale_multiplier numeric, lowest_bin int4, highest_bin int4,
  creator text, created_block_number int8, created_timestamp int8, created_transaction_hash text,
  admin text, pending_admin text, admin_fee_destination text,
  protocol_spread_fee_e6 int4, admin_spread_fee_e6 int4, protocol_notional_fee_e8 int4, admin_notional_fee_e8 int4,
  price_provider text, price_provider_since_block int8, price_provider_timelock_secs numeric,
  pending_price_provider text, pending_price_provider_block int8, pending_price_provider_execute_after numeric
)
LANGUAGE sql STABLE AS $$
  SELECT p.chain_id, p.address, p.factory, p.pool_idx,
         coalesce(read_model.shown_text(t0.symbol), p.token0) || '/' || coalesce(read_model.shown_text(t1.symbol), p.token1),
         p.token0, p.token1, read_model.shown_text(t0.symbol), read_model.shown_text(t1.symbol),
         read_model.shown_decimals(t0.decimals), read_model.shown_decimals(t1.decimals),
         p.token0_scale_multiplier, p.token1_scale_multiplier, p.lowest_bin, p.highest_bin,
         p.creator, p.created_block_number, p.created_timestamp, p.created_transaction_hash,
         p.admin, p.pending_admin, p.admin_fee_destination,
         p.protocol_spread_fee_e6, p.admin_spread_fee_e6, p.protocol_notional_fee_e8, p.admin_notional_fee_e8,
         p.price_provider, p.price_provider_since_block, p.price_provider_timelock_secs,
         p.pending_price_provider, p.pending_price_provider_block, p.pending_price_provider_execute_after
  FROM live.pool p
  LEFT JOIN live.token t0 ON t0.chain_id = p.chain_id AND t0.address = p.token0
  LEFT JOIN live.token t1 ON t1.chain_id = p.chain_id AND t1.address = p.token1
$$;
