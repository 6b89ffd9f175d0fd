-- Whether quotes persist: what became of a quote one, two and five blocks later, and 200 ms and 1 s later at live prices.

-- A row per pool and minute: the quotes of a block, and what they became.
CREATE TABLE history.persistence_minute (
  chain_id        int8             NOT NULL,
  pool            operator.address NOT NULL,
  -- The block whose quotes were shown.
  block_timestamp int8             NOT NULL,
  block_number    int8             NOT NULL,
  bid_changes_e6  int4[]           NOT NULL,
  ask_changes_e6  int4[]           NOT NULL,
  bid_gone_e6     int4,
  ask_gone_e6     int4,
  PRIMARY KEY (chain_id, pool, block_timestamp)
) PARTITION BY RANGE (block_timestamp);
COMMENT ON COLUMN history.persistence_minute.bid_changes_e6 IS
  'Millionths of the output that a later swap loses, by horizon (1, 2, 5 blocks, 200 ms, 1 s), then by amount (1,000 USD, 10,000 USD, a tenth of the depth); rounded up; 1000000: withdrawn; null: not known';
COMMENT ON COLUMN history.persistence_minute.bid_gone_e6 IS
  'Millionths of the depth within 10 bps that the next block does not have within the same price; null: not known';

-- The same by day. `gone_share` is that of the side, whatever the horizon.
CREATE TABLE history.persistence_day (
  chain_id         int8             NOT NULL,
  pool             operator.address NOT NULL,
  day_ts           int8             NOT NULL,
  side             text             NOT NULL,
  horizon          text             NOT NULL,
  sample_count     int8             NOT NULL,
  median_bps       float8           NOT NULL,
  p95_bps          float8           NOT NULL,
  worse_1bp_share  float8           NOT NULL,
  worse_5bps_share float8           NOT NULL,
  withdrawn_share  float8           NOT NULL,
  better_share     float8           NOT NULL,
  gone_share       float8,
  PRIMARY KEY (chain_id, pool, day_ts, side, horizon)
) PARTITION BY RANGE (day_ts);

-- Figures of a pool's samples in [from_ts, to_ts), exact: a percentile is one of the changes.
CREATE FUNCTION history.persistence_of(of_chain int8, of_pool text, from_ts int8, to_ts int8)
RETURNS TABLE (
  side text, horizon text, sample_count int8, median_bps float8, p95_bps float8, worse_1bp_share float8,
  worse_5bps_share float8, withdrawn_share float8, better_share float8, gone_share float8
)
LANGUAGE sql STABLE AS $$
  WITH samples AS MATERIALIZED (
    SELECT s.side, s.changes, s.gone FROM history.persistence_minute m
    CROSS JOIN LATERAL (VALUES ('bids', m.bid_changes_e6, m.bid_gone_e6), ('asks', m.ask_changes_e6, m.ask_gone_e6))
      s (side, changes, gone)
    WHERE m.chain_id = of_chain AND m.pool = of_pool AND m.block_timestamp >= from_ts AND m.block_timestamp < to_ts
  ), gone AS (
    SELECT samples.side, avg(samples.gone)::float8 / 1000000 AS share FROM samples GROUP BY 1
  )
  SELECT samples.side, (ARRAY['1_block', '2_blocks', '5_blocks', '200_ms', '1_s'])[(c.place + 2) / 3] AS horizon, count(*),
         percentile_disc(0.5) WITHIN GROUP (ORDER BY c.change) / 100::float8,
         percentile_disc(0.95) WITHIN GROUP (ORDER BY c.change) / 100::float8,
         avg((c.change > 100)::int4)::float8, avg((c.change > 500)::int4)::float8, avg((c.change = 1000000)::int4)::float8,
         avg((c.change < 0)::int4)::float8, min(gone.share)
  FROM samples
  CROSS JOIN LATERAL unnest(samples.changes) WITH ORDINALITY c (change, place)
  JOIN gone ON gone.side = samples.side
  WHERE c.change IS NOT NULL
  GROUP BY 1, 2
$$;

-- Both sides at one block, over 24 hours: a sort key of the listing. Capture writes pools with 100 samples.
CREATE TABLE operator.pool_persistence (
  chain_id        int8             NOT NULL,
  pool            operator.address NOT NULL,
  median_bps      float8           NOT NULL,
  p95_bps         float8           NOT NULL,
  withdrawn_share float8           NOT NULL,
  gone_share      float8,
  updated_at      timestamptz      NOT NULL DEFAULT now(),
  PRIMARY KEY (chain_id, pool)
);

CREATE VIEW read_model.quote_persistence AS
  SELECT chain_id, pool::text AS pool, day_ts, side, horizon, sample_count, median_bps, p95_bps, worse_1bp_share,
         worse_5bps_share, withdrawn_share, better_share, gone_share
  FROM history.persistence_day;
COMMENT ON VIEW read_model.quote_persistence IS 'Whether quotes of funded pools held, per side, horizon and day (UTC)';
COMMENT ON COLUMN read_model.quote_persistence.p95_bps IS 'Lost by the taker at the horizon, basis points; 10000: withdrawn';
COMMENT ON COLUMN read_model.quote_persistence.gone_share IS
  'Part of the depth within 10 bps that the next block does not have within the same price';

-- As before (0008), with the tables above.
CREATE OR REPLACE FUNCTION history.keep_partitions(of_table text, at_ts int8, keep_from int8) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET lock_timeout = '300ms' AS $$
DECLARE
  span int8 := CASE WHEN of_table IN ('quote_minute', 'quote_hour', 'fiat_price_minute', 'executability_hour', 'persistence_minute', 'persistence_day') THEN 86400
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

GRANT SELECT, INSERT ON history.persistence_minute TO ptd_capture;
GRANT SELECT, INSERT, UPDATE ON history.persistence_day TO ptd_capture;
GRANT SELECT, INSERT, UPDATE, DELETE ON operator.pool_persistence TO ptd_capture;
GRANT SELECT ON history.persistence_minute, history.persistence_day TO ptd_api, analyst;
GRANT SELECT ON operator.pool_persistence, read_model.quote_persistence TO ptd_api;
