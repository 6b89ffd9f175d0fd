-- Which minutes of an hour its counts are of: shares of the last 60 minutes are of two hours' rows.

ALTER TABLE history.executability_hour
  -- Bit n: of minute n, from 0; none of samples before this file.
  ADD COLUMN sample_minutes      int8 NOT NULL DEFAULT 0,
  ADD COLUMN committed_minutes   int8 NOT NULL DEFAULT 0,
  ADD COLUMN live_sample_minutes int8 NOT NULL DEFAULT 0,
  ADD COLUMN live_minutes        int8 NOT NULL DEFAULT 0;
COMMENT ON COLUMN history.executability_hour.sample_minutes IS 'Bit n, from 0: minute n of the hour is one of sample_count';
