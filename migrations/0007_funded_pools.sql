-- Whether the pool was funded when it was read, as capture says: the listing and the API go by it.
ALTER TABLE operator.price_health ADD COLUMN is_funded boolean NOT NULL DEFAULT false;
