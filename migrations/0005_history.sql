-- History: what is kept of trades and prices, minute by minute. Times are Unix seconds at the start of an interval (UTC).

CREATE SCHEMA history;
SET LOCAL check_function_bodies = off;

-- Prices are pairs {amount0, amount1} of raw amounts, compared by cross-multiplication: no digit is lost. A pair with a zero
-- has no price and must be null. Of equal prices the first one stays.
-- In plpgsql: a function in SQL that an aggregate calls starts a query each time.
CREATE FUNCTION history.keep_first(kept numeric[], other numeric[]) RETURNS numeric[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS 'BEGIN RETURN kept; END';
CREATE FUNCTION history.keep_last(kept numeric[], other numeric[]) RETURNS numeric[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS 'BEGIN RETURN other; END';
CREATE FUNCTION history.keep_high(kept numeric[], other numeric[]) RETURNS numeric[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS
  'BEGIN RETURN CASE WHEN other[2] * kept[1] > kept[2] * other[1] THEN other ELSE kept END; END';
CREATE FUNCTION history.keep_low(kept numeric[], other numeric[]) RETURNS numeric[]
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS
  'BEGIN RETURN CASE WHEN other[2] * kept[1] < kept[2] * other[1] THEN other ELSE kept END; END';
CREATE AGGREGATE history.first_price(numeric[]) (SFUNC = history.keep_first, STYPE = numeric[]);
CREATE AGGREGATE history.last_price(numeric[]) (SFUNC = history.keep_last, STYPE = numeric[]);
CREATE AGGREGATE history.highest_price(numeric[]) (SFUNC = history.keep_high, STYPE = numeric[]);
CREATE AGGREGATE history.lowest_price(numeric[]) (SFUNC = history.keep_low, STYPE = numeric[]);

-- The pair of a swap's amounts; null when one of them is zero.
CREATE FUNCTION history.price_pair(amount0 numeric, amount1 numeric) RETURNS numeric[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
  'SELECT CASE WHEN amount0 <> 0 AND amount1 <> 0 THEN ARRAY[abs(amount0), abs(amount1)] END';

-- The schema of the index that readers see; null while there is none.
CREATE FUNCTION read_model.served_schema() RETURNS text
LANGUAGE sql STABLE AS $$
  SELECT home.nspname::text
  FROM pg_class view
  JOIN pg_rewrite rule ON rule.ev_class = view.oid
  JOIN pg_depend uses ON uses.classid = 'pg_rewrite'::regclass AND uses.objid = rule.oid
    AND uses.refclassid = 'pg_class'::regclass AND uses.refobjid <> view.oid
  JOIN pg_class source ON source.oid = uses.refobjid
  JOIN pg_namespace home ON home.oid = source.relnamespace
  WHERE view.relkind = 'v' AND view.relname = '_ponder_checkpoint' AND view.relnamespace = to_regnamespace('live')
  LIMIT 1
$$;

-- The table of swaps of an index; null while there is none. Not by `to_regclass`, which fails without rights on the schema.
CREATE FUNCTION history.swap_table_of(index_schema text) RETURNS oid
LANGUAGE sql STABLE AS $$
  SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = index_schema AND c.relname = 'swap' AND c.relkind = 'r'
$$;

-- How far the candles of an index are written.
CREATE TABLE history.trade_mark (
  index_schema text NOT NULL,
  chain_id     int8 NOT NULL,
  -- The index's table of swaps: another one with the same name is another index.
  swap_table   oid  NOT NULL,
  -- All minutes that begin earlier are written; later swaps are the tail.
  until_ts     int8 NOT NULL,
  -- The last block with a swap of those minutes.
  until_block  int8 NOT NULL,
  PRIMARY KEY (index_schema, chain_id)
);

-- A row per pool and interval with swaps that no reorganisation can undo: of 60, 300, 3600 and 86400 seconds, so that a page of any
-- length reads a few rows per bar. An interval that has not ended holds its minutes before `until_ts`.
CREATE TABLE history.trade_bar (
  index_schema text             NOT NULL,
  chain_id     int8             NOT NULL,
  pool         operator.address NOT NULL,
  secs         int4             NOT NULL,
  start_ts     int8             NOT NULL,
  open_price   numeric[],
  high_price   numeric[],
  low_price    numeric[],
  close_price  numeric[],
  volume0_raw  numeric          NOT NULL,
  volume1_raw  numeric          NOT NULL,
  volume_usd   float8,
  lp_fee_usd   float8,
  swap_count   int8             NOT NULL,
  PRIMARY KEY (index_schema, chain_id, pool, secs, start_ts)
);
COMMENT ON TABLE history.trade_bar IS 'Executed prices and volume per pool and interval, of final blocks, per index';
COMMENT ON COLUMN history.trade_bar.start_ts IS 'Start of the interval, Unix seconds';
COMMENT ON COLUMN history.trade_bar.open_price IS
  '{amount0_raw, amount1_raw} of the first swap with a price, both positive; price = second / first; null: none had one';
COMMENT ON COLUMN history.trade_bar.volume0_raw IS 'Sum of token0 that moved in either direction, fees included';
COMMENT ON COLUMN history.trade_bar.volume_usd IS
  'Each swap by its input token at the price in force when its minute began; null when one was unknown';
COMMENT ON COLUMN history.trade_bar.lp_fee_usd IS 'Fees of liquidity providers at the same prices; null of packed pools';

-- Dollar prices of funded pools' tokens, by the minute in which they changed, and at least once an hour. A price holds until
-- the next row, for two hours at most.
CREATE TABLE history.fiat_price_minute (
  chain_id int8             NOT NULL,
  token    operator.address NOT NULL,
  ts       int8             NOT NULL,
  usd      float8           NOT NULL CHECK (usd >= 0 AND usd < 'Infinity'),
  source   text             NOT NULL,
  PRIMARY KEY (chain_id, token, ts)
) PARTITION BY RANGE (ts);
-- The same by the hour, kept longer. Partitions are months of 30 days.
CREATE TABLE history.fiat_price_hour (LIKE history.fiat_price_minute INCLUDING ALL) PARTITION BY RANGE (ts);
COMMENT ON COLUMN history.fiat_price_minute.ts IS 'Start of the minute, Unix seconds';
COMMENT ON COLUMN history.fiat_price_minute.usd IS 'US dollars per whole token';

-- What funded pools quoted, once a minute and where the status changed, as capture read it at a block.
CREATE TABLE history.quote_minute (
  chain_id        int8             NOT NULL,
  pool            operator.address NOT NULL,
  block_timestamp int8             NOT NULL,
  block_number    int8             NOT NULL,
  status          text             NOT NULL,
  bid_x64         numeric(39, 0),
  ask_x64         numeric(39, 0),
  -- Taken since the status changed, besides that of the minute.
  is_change       boolean          NOT NULL,
  -- What each side pays out within 10, 25, 50 and 100 basis points of mid; null unless read and known.
  bid_depth_raw   numeric[],
  ask_depth_raw   numeric[],
  PRIMARY KEY (chain_id, pool, block_timestamp)
) PARTITION BY RANGE (block_timestamp);

-- Bars of the samples of an hour; hours without a healthy sample have no row. Of a pair of prices, mid is half their sum.
CREATE TABLE history.quote_hour (
  chain_id     int8             NOT NULL,
  pool         operator.address NOT NULL,
  hour_ts      int8             NOT NULL,
  open_bid_x64 numeric NOT NULL, high_bid_x64 numeric NOT NULL, low_bid_x64 numeric NOT NULL, close_bid_x64 numeric NOT NULL,
  open_ask_x64 numeric NOT NULL, high_ask_x64 numeric NOT NULL, low_ask_x64 numeric NOT NULL, close_ask_x64 numeric NOT NULL,
  open_mid_x64 numeric NOT NULL, high_mid_x64 numeric NOT NULL, low_mid_x64 numeric NOT NULL, close_mid_x64 numeric NOT NULL,
  sample_count int4             NOT NULL,
  -- Of the last sample that has it.
  bid_depth_raw numeric[],
  ask_depth_raw numeric[],
  PRIMARY KEY (chain_id, pool, hour_ts)
) PARTITION BY RANGE (hour_ts);
CREATE INDEX ON history.quote_hour (chain_id, hour_ts);
COMMENT ON COLUMN history.quote_minute.bid_x64 IS 'Price to sell token0 at, fees included, Q64.64; null unless read';
COMMENT ON COLUMN history.quote_hour.sample_count IS 'Healthy samples';

-- Makes the partitions of a table for a time and the span after it, and drops those that end before `keep_from`. Capture owns
-- no table. Readers delay it briefly: only the partition that is needed now must be there.
CREATE FUNCTION history.keep_partitions(of_table text, at_ts int8, keep_from int8) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '300ms' AS $$
DECLARE
  span int8 := CASE WHEN of_table IN ('quote_minute', 'quote_hour', 'fiat_price_minute') THEN 86400
                    WHEN of_table = 'fiat_price_hour' THEN 2592000 END;
  from_ts int8 := at_ts - mod(at_ts, span);
  old text;
BEGIN
  IF span IS NULL THEN RAISE EXCEPTION 'history has no partitioned table %', of_table; END IF;
  FOR place IN 0..1 LOOP
    BEGIN
      CONTINUE WHEN to_regclass(format('history.%I', of_table || '_' || from_ts + place * span)) IS NOT NULL;
      -- Several jobs may come at once. Who waits here delays no reader.
      PERFORM set_config('lock_timeout', '10s', true);
      PERFORM pg_advisory_xact_lock(7203147);
      PERFORM set_config('lock_timeout', '300ms', true);
      EXECUTE format('CREATE TABLE IF NOT EXISTS history.%I PARTITION OF history.%I FOR VALUES FROM (%s) TO (%s)',
        of_table || '_' || from_ts + place * span, of_table, from_ts + place * span, from_ts + (place + 1) * span);
    EXCEPTION WHEN lock_not_available THEN
      IF place = 0 THEN RAISE; END IF;
    END;
  END LOOP;
  FOR old IN
    SELECT c.relname FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
    WHERE i.inhparent = to_regclass(format('history.%I', of_table))
      AND substr(c.relname, length(of_table) + 2)::int8 + span <= keep_from
  LOOP
    BEGIN
      EXECUTE format('DROP TABLE history.%I', old);
    EXCEPTION WHEN lock_not_available THEN RETURN;
    END;
  END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION history.keep_partitions FROM PUBLIC;

-- The price of a token by the hours, which stay; null when it is not known.
CREATE FUNCTION history.usd_by_hour(of_chain int8, of_token text, at_ts int8) RETURNS float8
LANGUAGE sql STABLE AS $$
  SELECT usd FROM history.fiat_price_hour
  WHERE chain_id = of_chain AND token = of_token AND ts > at_ts - 7200 AND ts <= at_ts ORDER BY ts DESC LIMIT 1
$$;

-- The price of a token in force at a time: by the minutes, which are dropped after days, else by the hours.
CREATE FUNCTION history.usd_at(of_chain int8, of_token text, at_ts int8) RETURNS float8
LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    (SELECT usd FROM history.fiat_price_minute
     WHERE chain_id = of_chain AND token = of_token AND ts > at_ts - 7200 AND ts <= at_ts ORDER BY ts DESC LIMIT 1),
    history.usd_by_hour(of_chain, of_token, at_ts))
$$;

-- All trades of a chain before this time are written for the serving index, Unix seconds; 0: none.
CREATE FUNCTION history.trades_until(of_chain int8) RETURNS int8
LANGUAGE sql STABLE AS $$
  SELECT coalesce(max(until_ts), 0) FROM history.trade_mark
  WHERE index_schema = (SELECT read_model.served_schema()) AND chain_id = of_chain
    AND swap_table = history.swap_table_of(index_schema)
$$;

-- Bars of a pool of the serving index in [from_ts, to_ts), which are multiples of `secs`, itself a multiple of 60: written
-- minutes, and the swaps after them as they are now. Intervals without a swap have no row.
CREATE FUNCTION read_model.trade_bars(of_chain int8, of_pool text, secs int8, from_ts int8, to_ts int8)
RETURNS TABLE (
  start_ts int8, open_price numeric[], high_price numeric[], low_price numeric[], close_price numeric[],
  volume0_raw numeric, volume1_raw numeric, volume_usd float8, swap_count int8, is_final boolean
)
LANGUAGE sql STABLE AS $$
  WITH mark AS MATERIALIZED (
    SELECT history.trades_until(of_chain) AS until_ts
  ), tail AS (
    SELECT s.block_timestamp - s.block_timestamp % 60 AS minute_ts, s.block_number, s.log_index,
           abs(s.amount0_raw) AS volume0, abs(s.amount1_raw) AS volume1,
           history.price_pair(s.amount0_raw, s.amount1_raw) AS price,
           CASE WHEN s.zero_for_one THEN s.amount0_raw / 10::numeric ^ p.token0_decimals
                ELSE s.amount1_raw / 10::numeric ^ p.token1_decimals END::float8
             * history.usd_at(s.chain_id, CASE WHEN s.zero_for_one THEN p.token0 ELSE p.token1 END,
                 s.block_timestamp - s.block_timestamp % 60) AS usd,
           greatest(s.amount0_raw, s.amount1_raw) <= 0 AS is_empty
    FROM live.swap s JOIN read_model.pool_rows() p ON p.chain_id = s.chain_id AND p.address = s.pool, mark
    WHERE s.chain_id = of_chain AND s.pool = of_pool
      AND s.block_timestamp >= greatest(from_ts, mark.until_ts) AND s.block_timestamp < to_ts
  ), part (start_ts, block_number, log_index, open_price, high_price, low_price, close_price, volume0_raw, volume1_raw, volume_usd,
           swap_count) AS (
    SELECT b.start_ts, 0::int8, 0, b.open_price, b.high_price, b.low_price, b.close_price,
           b.volume0_raw, b.volume1_raw, b.volume_usd, b.swap_count
    FROM history.trade_bar b
    WHERE b.index_schema = (SELECT read_model.served_schema()) AND b.chain_id = of_chain AND b.pool = of_pool
      AND b.secs = CASE WHEN trade_bars.secs % 86400 = 0 THEN 86400 WHEN trade_bars.secs % 3600 = 0 THEN 3600
                        WHEN trade_bars.secs % 300 = 0 THEN 300 ELSE 60 END
      AND b.start_ts >= from_ts AND b.start_ts < least(to_ts, (SELECT until_ts FROM mark))
    UNION ALL
    SELECT minute_ts, block_number, log_index, price, price, price, price, volume0, volume1,
           CASE WHEN is_empty THEN 0 ELSE usd END, 1
    FROM tail
  )
  SELECT start_ts - start_ts % trade_bars.secs,
         history.first_price(open_price ORDER BY start_ts, block_number, log_index),
         history.highest_price(high_price ORDER BY start_ts, block_number, log_index),
         history.lowest_price(low_price ORDER BY start_ts, block_number, log_index),
         history.last_price(close_price ORDER BY start_ts, block_number, log_index),
         sum(volume0_raw), sum(volume1_raw),
         CASE WHEN count(volume_usd) = count(*) THEN sum(volume_usd) END,
         sum(swap_count)::int8,
         start_ts - start_ts % trade_bars.secs + trade_bars.secs <= (SELECT until_ts FROM mark)
  FROM part
  GROUP BY 1, 10
$$;

-- What a pool would have given for the input of a swap at the end of the block before, by its own simulation. It outlives
-- indexes: the swap is found by its place, and the row counts for the swap of this input alone.
CREATE TABLE history.fill (
  chain_id         int8             NOT NULL,
  block_number     int8             NOT NULL,
  log_index        int4             NOT NULL,
  transaction_hash text             NOT NULL,
  pool             operator.address NOT NULL,
  block_timestamp  int8             NOT NULL,
  zero_for_one     boolean          NOT NULL,
  in_raw           numeric          NOT NULL,
  -- The block whose state was asked, and whether it is known to have become final.
  parent_hash      text             NOT NULL,
  is_final         boolean          NOT NULL DEFAULT false,
  -- Null when the pool or its provider gave no such quote.
  quoted_out_raw   numeric,
  PRIMARY KEY (chain_id, block_number, log_index, transaction_hash)
);
CREATE INDEX ON history.fill (chain_id, pool, block_timestamp);
CREATE INDEX ON history.fill (chain_id, block_number) WHERE NOT is_final;

-- Swaps of the serving index that were compared, with what they got. `vs_quote_bps` is signed: negative is less than quoted.
CREATE FUNCTION read_model.swap_fills()
RETURNS TABLE (
  chain_id int8, block_number int8, log_index int4, transaction_hash text, pool text, block_timestamp int8,
  in_raw numeric, out_raw numeric, quoted_out_raw numeric, vs_quote_bps numeric, is_final boolean
)
LANGUAGE sql STABLE AS $$
  SELECT f.chain_id, f.block_number, f.log_index, f.transaction_hash, f.pool::text, f.block_timestamp, f.in_raw,
         -least(s.amount0_raw, s.amount1_raw), f.quoted_out_raw,
         (-least(s.amount0_raw, s.amount1_raw) - f.quoted_out_raw) * 10000 / nullif(f.quoted_out_raw, 0), f.is_final
  FROM history.fill f
  JOIN live.swap s ON s.chain_id = f.chain_id AND s.block_number = f.block_number AND s.log_index = f.log_index
    AND s.transaction_hash = f.transaction_hash AND s.pool = f.pool::text AND s.zero_for_one = f.zero_for_one
    AND greatest(s.amount0_raw, s.amount1_raw) = f.in_raw
$$;

-- Per pool and day (UTC) with a compared swap, of final blocks. All other swaps of the day are unknown.
CREATE VIEW read_model.fill_quality AS
  SELECT d.chain_id, d.pool, d.day_ts, t.swap_count, d.compared_count, d.median_bps, d.worst_bps, d.within_1bp_share,
         d.worse_share, 1 - d.compared_count::float8 / t.swap_count AS unknown_share
  FROM (
    SELECT chain_id, pool, block_timestamp - block_timestamp % 86400 AS day_ts, count(vs_quote_bps) AS compared_count,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY vs_quote_bps::float8) AS median_bps,
           min(vs_quote_bps)::float8 AS worst_bps,
           avg((abs(vs_quote_bps) <= 1)::int4)::float8 AS within_1bp_share,
           -- An exact output takes up to a unit of input more than its quote needs.
           avg((quoted_out_raw - out_raw > quoted_out_raw / in_raw)::int4) FILTER (WHERE vs_quote_bps IS NOT NULL)::float8
             AS worse_share
    FROM read_model.swap_fills() WHERE is_final
    GROUP BY 1, 2, 3
  ) d
  JOIN history.trade_bar t ON t.index_schema = (SELECT read_model.served_schema()) AND t.chain_id = d.chain_id
    AND t.pool = d.pool AND t.secs = 86400 AND t.start_ts = d.day_ts AND t.swap_count >= d.compared_count;
COMMENT ON VIEW read_model.fill_quality IS 'What final swaps got beside what their pool quoted at the end of the block before';
COMMENT ON COLUMN read_model.fill_quality.median_bps IS 'Basis points of the quoted output; negative: less than quoted';

CREATE VIEW read_model.trade_candle AS
  SELECT m.chain_id, m.pool::text AS pool, m.start_ts AS minute_ts,
         (m.open_price[2] / m.open_price[1] * s.unit)::float8 AS open,
         (m.high_price[2] / m.high_price[1] * s.unit)::float8 AS high,
         (m.low_price[2] / m.low_price[1] * s.unit)::float8 AS low,
         (m.close_price[2] / m.close_price[1] * s.unit)::float8 AS close,
         m.open_price, m.high_price, m.low_price, m.close_price,
         m.volume0_raw, m.volume1_raw, m.volume_usd, m.swap_count
  FROM history.trade_bar m
  LEFT JOIN read_model.pool_rows() p ON p.chain_id = m.chain_id AND p.address = m.pool::text,
       LATERAL (SELECT 10::numeric ^ (p.token0_decimals - p.token1_decimals) AS unit) s
  WHERE m.index_schema = (SELECT read_model.served_schema()) AND m.secs = 60;

-- What liquidity providers own of a token by running totals (protocol/pool-totals.ts gives their order): all that came and did
-- not go, but for fees of others. Null of packed pools.
CREATE FUNCTION history.lp_owned0(totals numeric[], multiplier numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
  'SELECT totals[6] - totals[8] + totals[10] - totals[12] - ceil((totals[18] + totals[20]) / multiplier)';
CREATE FUNCTION history.lp_owned1(totals numeric[], multiplier numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS
  'SELECT totals[7] - totals[9] + totals[11] - totals[13] - ceil((totals[19] + totals[21]) / multiplier)';

-- What raw amounts are worth, by the hour's prices: a closed day stays as it is. An amount of nothing needs no price.
CREATE FUNCTION history.worth_usd(
  of_chain int8, token0 text, decimals0 int4, amount0 numeric, token1 text, decimals1 int4, amount1 numeric, at_ts int8
) RETURNS float8
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN amount0 = 0 THEN 0 ELSE (amount0 / 10::numeric ^ decimals0)::float8 * history.usd_by_hour(of_chain, token0, at_ts) END
    + CASE WHEN amount1 = 0 THEN 0 ELSE (amount1 / 10::numeric ^ decimals1)::float8 * history.usd_by_hour(of_chain, token1, at_ts) END
$$;

-- What liquidity of a pool gained over holding its tokens, from after the totals `s` to `e` at `to_ts`: the product of what it
-- gained between changes of liquidity, which count at the end of their second. Null without liquidity or a price.
CREATE FUNCTION history.lp_return(
  of_chain int8, of_pool text, token0 text, decimals0 int4, multiplier0 numeric, token1 text, decimals1 int4, multiplier1 numeric,
  s numeric[], e numeric[], from_ts int8, to_ts int8
) RETURNS float8
LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN count(*) = count(gain) THEN exp(sum(ln(gain))) - 1 END
  FROM (
    SELECT nullif(history.worth_usd(of_chain, token0, decimals0, owned0 - added0, token1, decimals1, owned1 - added1, at_ts), 0)
             / nullif(history.worth_usd(of_chain, token0, decimals0, held0, token1, decimals1, held1, at_ts), 0) AS gain
    FROM (
      SELECT at_ts, owned0, owned1, added0, added1,
             lag(owned0, 1, coalesce(history.lp_owned0(s, multiplier0), 0)) OVER sequence AS held0,
             lag(owned1, 1, coalesce(history.lp_owned1(s, multiplier1), 0)) OVER sequence AS held1
      FROM (
        SELECT c.at_ts, false AS is_end, history.lp_owned0(own.totals, multiplier0) AS owned0,
               history.lp_owned1(own.totals, multiplier1) AS owned1,
               own.totals[10] - own.totals[12] - coalesce(past.totals[10] - past.totals[12], 0) AS added0,
               own.totals[11] - own.totals[13] - coalesce(past.totals[11] - past.totals[13], 0) AS added1
        FROM (
          SELECT DISTINCT block_timestamp AS at_ts FROM live.liquidity_change
          WHERE chain_id = of_chain AND pool = of_pool AND block_timestamp >= from_ts AND block_timestamp <= to_ts
        ) c
        JOIN live.pool_activity own ON own.chain_id = of_chain AND own.pool = of_pool AND own.block_timestamp = c.at_ts
        LEFT JOIN LATERAL (
          SELECT a.totals FROM live.pool_activity a
          WHERE a.chain_id = of_chain AND a.pool = of_pool AND a.block_timestamp < c.at_ts ORDER BY a.block_timestamp DESC LIMIT 1
        ) past ON true
        UNION ALL
        SELECT to_ts, true, history.lp_owned0(e, multiplier0), history.lp_owned1(e, multiplier1), 0, 0
      ) points
      WINDOW sequence AS (ORDER BY at_ts, is_end)
    ) steps
    WHERE held0 IS NULL OR held0 > 0 OR held1 > 0
  ) gains
$$;

-- The newest days (UTC) of a pool with a log that start before a time, from running totals.
CREATE FUNCTION read_model.pool_days(of_chain int8, of_pool text, before_ts int8, most int8)
RETURNS TABLE (
  chain_id int8, pool text, day_ts int8, swap_count int8, swap_tx_count int8, sender_count int8,
  volume0_raw numeric, volume1_raw numeric, volume_usd float8, lp_fee0_scaled numeric, lp_fee1_scaled numeric,
  protocol_fee0_scaled numeric, protocol_fee1_scaled numeric, notional_fee0_scaled numeric, notional_fee1_scaled numeric,
  balance0_raw numeric, balance1_raw numeric, is_final boolean,
  lp_fee0_raw numeric, lp_fee1_raw numeric, lp_fee_usd float8, tvl0_raw numeric, tvl1_raw numeric, tvl_usd float8, lp_return float8
)
LANGUAGE sql STABLE AS $$
  WITH RECURSIVE ends AS (
    (SELECT a.block_timestamp - a.block_timestamp % 86400 AS day_ts, a.totals, 0::int8 AS place
     FROM live.pool_activity a
     WHERE a.chain_id = of_chain AND a.pool = of_pool AND a.block_timestamp < (before_ts + 86399) / 86400 * 86400
     ORDER BY a.block_timestamp DESC LIMIT 1)
    UNION ALL
    SELECT earlier.day_ts, earlier.totals, ends.place + 1
    FROM ends, LATERAL (
      SELECT a.block_timestamp - a.block_timestamp % 86400 AS day_ts, a.totals FROM live.pool_activity a
      WHERE a.chain_id = of_chain AND a.pool = of_pool AND a.block_timestamp < ends.day_ts
      ORDER BY a.block_timestamp DESC LIMIT 1) earlier
    WHERE ends.place < most
  )
  SELECT of_chain, of_pool, d.day_ts, (e[1] - coalesce(s[1], 0))::int8, (e[2] - coalesce(s[2], 0))::int8, senders.n,
         e[6] + e[8] - coalesce(s[6] + s[8], 0), e[7] + e[9] - coalesce(s[7] + s[9], 0),
         CASE WHEN d.is_final THEN CASE WHEN day.pool IS NULL THEN 0 ELSE day.volume_usd END END,
         e[16] - coalesce(s[16], 0), e[17] - coalesce(s[17], 0), e[18] - coalesce(s[18], 0), e[19] - coalesce(s[19], 0),
         e[20] - coalesce(s[20], 0), e[21] - coalesce(s[21], 0),
         e[6] - e[8] + e[10] - e[12] - e[14], e[7] - e[9] + e[11] - e[13] - e[15], d.is_final,
         div(e[16] - coalesce(s[16], 0), p.token0_scale_multiplier), div(e[17] - coalesce(s[17], 0), p.token1_scale_multiplier),
         CASE WHEN d.is_final THEN CASE WHEN day.pool IS NULL THEN 0 ELSE day.lp_fee_usd END END,
         history.lp_owned0(e, p.token0_scale_multiplier), history.lp_owned1(e, p.token1_scale_multiplier),
         history.worth_usd(of_chain, p.token0, p.token0_decimals, history.lp_owned0(e, p.token0_scale_multiplier), p.token1,
           p.token1_decimals, history.lp_owned1(e, p.token1_scale_multiplier), d.end_ts),
         history.lp_return(of_chain, of_pool, p.token0, p.token0_decimals, p.token0_scale_multiplier, p.token1, p.token1_decimals,
           p.token1_scale_multiplier, s, e, d.day_ts, d.end_ts)
  FROM (
    SELECT ends.day_ts, ends.place, ends.totals AS e, lead(ends.totals) OVER (ORDER BY ends.place) AS s, mark.index_schema,
           coalesce(ends.day_ts + 86400 <= mark.until_ts, false) AS is_final, least(ends.day_ts + 86399, head.block_timestamp) AS end_ts
    FROM ends
    LEFT JOIN read_model.indexed_block head ON head.chain_id = of_chain
    LEFT JOIN history.trade_mark mark ON mark.index_schema = (SELECT read_model.served_schema()) AND mark.chain_id = of_chain
      AND mark.swap_table = history.swap_table_of(mark.index_schema)
  ) d
  JOIN read_model.pool_rows() p ON p.chain_id = of_chain AND p.address = of_pool
  CROSS JOIN LATERAL (
    SELECT count(DISTINCT w.sender) AS n FROM live.swap w
    WHERE w.chain_id = of_chain AND w.pool = of_pool AND w.block_timestamp >= d.day_ts AND w.block_timestamp < d.day_ts + 86400
  ) senders
  LEFT JOIN history.trade_bar day ON day.index_schema = d.index_schema AND day.chain_id = of_chain
    AND day.pool = of_pool AND day.secs = 86400 AND day.start_ts = d.day_ts
  WHERE d.place < most
$$;
CREATE VIEW read_model.pool_day AS
  SELECT d.* FROM read_model.pool p, LATERAL read_model.pool_days(p.chain_id, p.address, 1099511627776, 1000000) d;
COMMENT ON VIEW read_model.pool_day IS 'Days (UTC) of each pool with a log, of the serving index';
COMMENT ON COLUMN read_model.pool_day.balance0_raw IS 'Balance by events at the end of the day, fees included';
COMMENT ON COLUMN read_model.pool_day.tvl0_raw IS 'Part of it that liquidity providers own; null of packed pools';
COMMENT ON COLUMN read_model.pool_day.lp_return IS 'Gain of the pool''s liquidity over holding its tokens, 0.01: one percent';

CREATE VIEW read_model.fiat_price_history AS
  SELECT chain_id, token::text AS token, ts, 60 AS interval_secs, usd, source FROM history.fiat_price_minute
  UNION ALL
  SELECT chain_id, token::text, ts, 3600, usd, source FROM history.fiat_price_hour;

CREATE VIEW read_model.quote_sample AS
  SELECT chain_id, pool::text AS pool, block_timestamp, block_number, status, bid_x64, ask_x64,
         -- A division would round.
         (bid_x64 + ask_x64) * 0.5 AS mid_x64, is_change,
         bid_depth_raw[1] AS bid_depth_10bps_raw, bid_depth_raw[2] AS bid_depth_25bps_raw,
         bid_depth_raw[3] AS bid_depth_50bps_raw, bid_depth_raw[4] AS bid_depth_100bps_raw,
         ask_depth_raw[1] AS ask_depth_10bps_raw, ask_depth_raw[2] AS ask_depth_25bps_raw,
         ask_depth_raw[3] AS ask_depth_50bps_raw, ask_depth_raw[4] AS ask_depth_100bps_raw
  FROM history.quote_minute;
COMMENT ON VIEW read_model.quote_sample IS 'What funded pools quoted, once a minute and where the status changed';
COMMENT ON COLUMN read_model.quote_sample.bid_depth_10bps_raw IS 'token1 paid for token0 until the bid is 10 basis points below mid';
COMMENT ON COLUMN read_model.quote_sample.ask_depth_10bps_raw IS 'token0 paid for token1 until the ask is 10 basis points above mid';

COMMENT ON VIEW read_model.trade_candle IS 'Minutes of executed prices of the serving index, of final blocks';
COMMENT ON COLUMN read_model.trade_candle.open IS 'Token1 per token0, whole tokens, fees included; null without decimals';
COMMENT ON VIEW read_model.fiat_price_history IS 'Dollar prices at their changes, by minutes and by hours';

GRANT USAGE ON SCHEMA history TO ptd_indexer, ptd_capture, ptd_api, analyst;
-- A backfill writes the candles of its index before it turns readers to it.
GRANT SELECT, INSERT, UPDATE, DELETE ON history.trade_mark, history.trade_bar TO ptd_capture, ptd_indexer;
GRANT SELECT ON history.trade_mark, history.trade_bar, history.fill TO ptd_api, analyst;
GRANT SELECT, INSERT, UPDATE, DELETE ON history.fill TO ptd_capture;
GRANT SELECT ON history.fiat_price_minute, history.fiat_price_hour TO ptd_indexer, ptd_api, analyst;
GRANT SELECT ON history.quote_minute, history.quote_hour TO ptd_api, analyst;
GRANT SELECT, INSERT ON history.fiat_price_minute, history.fiat_price_hour, history.quote_minute, history.quote_hour
  TO ptd_capture;
GRANT EXECUTE ON FUNCTION history.keep_partitions TO ptd_capture;
-- `analyst` reads every view by default (0003).
GRANT SELECT ON read_model.trade_candle, read_model.quote_sample, read_model.pool_day, read_model.fill_quality,
  read_model.fiat_price_history TO ptd_api;
