-- What a search of the listing matches by its beginning: the pool, its tokens and the pair both ways round, in lowercase.
-- Capture writes it; a row that the release before wrote has none until its successor refreshes the listing.
ALTER TABLE operator.listed_pool ADD COLUMN search_terms text[] NOT NULL DEFAULT '{}';
CREATE INDEX ON operator.listed_pool USING gin (array_to_tsvector(search_terms));
