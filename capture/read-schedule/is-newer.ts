import { type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import { PRICE_STATUS_MAX_AGE_SECS } from '../../protocol/quote-status.ts';

/**
 * SQL condition of an upsert: the stored read is of a later block than the new one, which a process that runs at the
 * same time or a node that is behind gave. A read that is too old to count is replaced nevertheless: the chain may have
 * rolled back.
 */
export const isNewer = ({ blockNumber, capturedAt }: Readonly<Record<'blockNumber' | 'capturedAt', PgColumn>>): SQL =>
  sql`${blockNumber} > excluded.block_number
    AND ${capturedAt} > now() - make_interval(secs => ${sql.raw(String(PRICE_STATUS_MAX_AGE_SECS))})`;
