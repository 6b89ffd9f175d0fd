-- Of a backfill that repairs the index: how many in a row, with it, did not end a difference that they were for; 0 of others.
ALTER TABLE operator.backfill ADD COLUMN attempt int4 NOT NULL DEFAULT 0;
