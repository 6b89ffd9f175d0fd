import { and, eq, sql } from 'drizzle-orm';
import type { Address } from 'viem';
import { queriesOn } from '../../db/query-builder.ts';
import { layoutCalibrations } from '../../db/schema/operator.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { Finding } from '../../protocol/calibration.ts';

/** A factory of a chain. */
export type FactoryKey = { readonly chainId: number; readonly factory: Address };

export type CalibrationRow = typeof layoutCalibrations.$inferSelect;
export type DecidedBy = CalibrationRow['decidedBy'];

const isOf = ({ chainId, factory }: FactoryKey) =>
  and(eq(layoutCalibrations.chainId, chainId), eq(layoutCalibrations.factory, factory));

/** Reads what is stored about a factory: one row for each finding. */
export async function readCalibration(database: Queryable, key: FactoryKey): Promise<readonly CalibrationRow[]> {
  return queriesOn(database).select().from(layoutCalibrations).where(isOf(key));
}

/**
 * Stores findings. When a finding is undecided, the earlier decision stays, unless the finding contradicts it. A job
 * never replaces what the operator decided.
 */
export async function writeCalibration(
  database: Queryable,
  key: FactoryKey,
  findings: readonly Finding[],
  decidedBy: DecidedBy,
): Promise<void> {
  const before = new Map((await readCalibration(database, key)).map((row) => [row.what, row]));
  for (const finding of findings) {
    const old = before.get(finding.what);
    if (old?.decidedBy === 'operator' && old.decided !== null && decidedBy === 'job') continue;
    const { what, decided, ...evidence } = finding;
    const tries = (old?.tries ?? 0) + 1;
    const isKept = decided === null && old !== undefined && stands(old.decided, finding);
    const values = isKept
      ? { evidence: old.evidence, decided: old.decided, decidedBy: old.decidedBy, decidedAt: old.decidedAt }
      : { evidence, decided, decidedBy, decidedAt: sql`now()` };
    const row = { ...values, tries };
    await queriesOn(database)
      .insert(layoutCalibrations)
      .values({ ...key, what, ...row })
      .onConflictDoUpdate({
        target: [layoutCalibrations.chainId, layoutCalibrations.factory, layoutCalibrations.what],
        set: row,
      });
  }
}

/** Whether an earlier decision stays: an undecided finding does not contradict it. */
function stands(decided: string | null, { interpretations }: Finding): boolean {
  return decided !== null && interpretations.every(({ name, contradicted }) => name !== decided || contradicted === 0);
}
