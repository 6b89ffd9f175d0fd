-- Of pools and factories, whether the last comparison found nothing out: no node gave what the chain holds.
ALTER TABLE operator.index_audit ADD COLUMN is_unread boolean NOT NULL DEFAULT false;
UPDATE operator.index_audit SET is_unread = true WHERE audited_block IS NULL;
-- The status of a chain is read every two seconds.
CREATE INDEX index_audit_unread ON operator.index_audit (chain_id, index_schema) WHERE is_unread;
