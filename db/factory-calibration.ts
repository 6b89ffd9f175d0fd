import { and, eq, isNotNull, type SQL } from 'drizzle-orm';
import type { Address } from 'viem';
import { STOP_LOSS_MARK } from '../protocol/guards/observed-marks.ts';
import { STOP_LOSS_MARKS, type StopLossMark } from '../protocol/stop-loss/stop-loss.ts';
import { NO_ARRANGEMENT } from '../protocol/stored-layout.ts';
import { queriesOn } from './query-builder.ts';
import { layoutCalibrations } from './schema/operator.ts';
import type { Queryable } from './transaction.ts';

/**
 * Selects rows of `layoutCalibrations` for factories whose pools have storage that no known arrangement explains. Reads
 * of these pools are wrong. Until a calibration finds the arrangement, they are treated like pools of a disabled
 * deployment.
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

/** How the stop losses of factories value bins, in order. Factories without a finding are left out. */
export async function readStopLossMarks(
  database: Queryable,
): Promise<{ readonly chainId: number; readonly factory: Address; readonly mark: StopLossMark }[]> {
  const { chainId, factory, what, decided } = layoutCalibrations;
  const rows = await queriesOn(database)
    .select({ chainId, factory, decided })
    .from(layoutCalibrations)
    .where(and(eq(what, STOP_LOSS_MARK), isNotNull(decided)))
    .orderBy(chainId, factory);
  return rows.flatMap((row) => {
    const mark = STOP_LOSS_MARKS.find((each) => each === row.decided);
    return mark ? [{ chainId: row.chainId, factory: row.factory, mark }] : [];
  });
}
