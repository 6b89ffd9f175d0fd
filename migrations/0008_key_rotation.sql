-- A rotated key ends at revoked_at, which may lie ahead; its successor remembers it.
ALTER TABLE operator.api_key ADD COLUMN replaces text REFERENCES operator.api_key (key_id);
