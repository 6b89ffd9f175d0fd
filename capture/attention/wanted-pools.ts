import { and, desc, eq, gt, sql } from 'drizzle-orm';
import type { Address } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { queriesOn } from '../../db/query-builder.ts';
import { wantedPools } from '../../db/schema/operator.ts';
import type { Queryable } from '../../db/transaction.ts';

/** Pools of a chain that clients of the API asked for lately. */
export async function readWantedPools(
  database: Queryable,
  { chainId, readBudget }: Pick<ChainConfig, 'chainId' | 'readBudget'>,
): Promise<ReadonlySet<Address>> {
  const { pool, askedAt } = wantedPools;
  const isRecent = gt(askedAt, sql`now() - make_interval(secs => ${readBudget.wantedSecs})`);
  const rows = await queriesOn(database)
    .select({ pool })
    .from(wantedPools)
    .where(and(eq(wantedPools.chainId, chainId), isRecent))
    .orderBy(desc(askedAt), pool)
    .limit(readBudget.wantedPools);
  return new Set(rows.map((row) => row.pool));
}
