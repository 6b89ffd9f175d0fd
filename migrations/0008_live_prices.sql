-- Prices that live with block builders before they land: `live` is a price in the block that was being built.

ALTER TABLE operator.price_health
  ADD COLUMN basis text NOT NULL DEFAULT 'committed' CHECK (basis IN ('committed', 'live')),
  -- Whether the pool traded at a live price then; null where no source is configured, or it was not read.
  ADD COLUMN trades_live boolean;

CREATE OR REPLACE VIEW read_model.price_health AS
  SELECT chain_id, pool::text AS pool, status, sell_price_x64, buy_price_x64, block_number, block_timestamp, captured_at, basis
  FROM operator.price_health;
COMMENT ON COLUMN read_model.price_health.basis IS
  'live: status and prices of the block that was being built on this one; committed: of this block';

ALTER TABLE history.quote_minute ADD COLUMN basis text NOT NULL DEFAULT 'committed';

CREATE OR REPLACE VIEW read_model.quote_sample AS
  SELECT chain_id, pool::text AS pool, block_timestamp, block_number, status, bid_x64, ask_x64,
         -- A division would round.
         (bid_x64 + ask_x64) * 0.5 AS mid_x64, is_change,
         bid_depth_raw[1] AS bid_depth_10bps_raw, bid_depth_raw[2] AS bid_depth_25bps_raw,
         bid_depth_raw[3] AS bid_depth_50bps_raw, bid_depth_raw[4] AS bid_depth_100bps_raw,
         ask_depth_raw[1] AS ask_depth_10bps_raw, ask_depth_raw[2] AS ask_depth_25bps_raw,
         ask_depth_raw[3] AS ask_depth_50bps_raw, ask_depth_raw[4] AS ask_depth_100bps_raw, basis
  FROM history.quote_minute;
COMMENT ON COLUMN read_model.quote_sample.basis IS 'As in price_health';

-- Of each hour, how many samples found a funded pool trading: one sample a minute, of the block that capture read.
CREATE TABLE history.executability_hour (
  chain_id          int8             NOT NULL,
  pool              operator.address NOT NULL,
  hour_ts           int8             NOT NULL,
  sample_count      int4             NOT NULL,
  committed_count   int4             NOT NULL,
  -- Samples that say whether the pool traded at a live price: none of a chain without a source.
  live_sample_count int4             NOT NULL,
  live_count        int4             NOT NULL,
  -- Block of the last sample.
  last_ts           int8             NOT NULL,
  PRIMARY KEY (chain_id, pool, hour_ts)
) PARTITION BY RANGE (hour_ts);
COMMENT ON COLUMN history.executability_hour.committed_count IS 'Samples of a pool that traded at the end of a block';
COMMENT ON COLUMN history.executability_hour.live_count IS 'Samples of a pool that traded at a live price in the block that was being built';

-- As before (0005), with the table above.
CREATE OR REPLACE FUNCTION history.keep_partitions(of_table text, at_ts int8, keep_from int8) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '300ms' AS $$
DECLARE
  span int8 := CASE WHEN of_table IN ('quote_minute', 'quote_hour', 'fiat_price_minute', 'executability_hour') THEN 86400
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

-- Shares of the samples of a pool's hours that begin in [from_ts, to_ts); null without a sample.
CREATE FUNCTION read_model.executability(of_chain int8, of_pool text, from_ts int8, to_ts int8)
RETURNS TABLE (committed_share float8, live_share float8)
LANGUAGE sql STABLE AS $$
  SELECT sum(committed_count)::float8 / nullif(sum(sample_count), 0), sum(live_count)::float8 / nullif(sum(live_sample_count), 0)
  FROM history.executability_hour
  WHERE chain_id = of_chain AND pool = of_pool AND hour_ts >= from_ts AND hour_ts < to_ts
$$;

GRANT SELECT, INSERT, UPDATE ON history.executability_hour TO ptd_capture;
GRANT SELECT ON history.executability_hour TO ptd_api, analyst;
