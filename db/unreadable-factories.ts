import { and, eq, type SQL } from 'drizzle-orm';
import { NO_ARRANGEMENT } from '../protocol/stored-layout.ts';
import { queriesOn } from './query-builder.ts';
import { layoutCalibrations } from './schema/operator.ts';
import type { Queryable } from './transaction.ts';

/**
 * Rows of `layoutCalibrations` for factories whose pools have storage that no known arrangement explains. Until a
 * calibration establishes one, these pools are treated like those of a disabled deployment: what is read of them is wrong.
 */
export const isUnreadable: SQL | undefined = and(
  eq(layoutCalibrations.what, 'storage'),
  eq(layoutCalibrations.decided, NO_ARRANGEMENT),
);

/** Factories of all chains whose pools are not served, in order. */
export async function readUnreadableFactories(database: Queryable) {
  const { chainId, factory } = layoutCalibrations;
  return queriesOn(database)
    .select({ chainId, factory })
    .from(layoutCalibrations)
    .where(isUnreadable)
    .orderBy(chainId, factory);
}
