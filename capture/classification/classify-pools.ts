import { sql } from 'drizzle-orm';
import { poolClassifications } from '../../db/schema/operator.ts';
import type { Queryable } from '../../db/transaction.ts';
import { deletePools, upsertRows } from '../../db/write-rows.ts';
import { classifyPool } from '../../protocol/classification.ts';
import type { OperatorRegistry } from '../pools/operator-registry.ts';
import { type PoolId, poolKey } from '../pools/pool-id.ts';
import { readClassificationFacts } from './read-facts.ts';

/**
 * Classifies these pools from what is indexed and what the operator decided, and stores what changed. A pool that a
 * reorganisation undid, or whose deployment was disabled, has no tier.
 */
export async function classifyPools(
  database: Queryable,
  registry: OperatorRegistry,
  pools: readonly PoolId[],
): Promise<void> {
  const known = await readClassificationFacts(database, registry, pools);
  const classified = known.map(({ chainId, pool, facts }) => {
    const { tier, reasonCodes } = classifyPool(facts);
    return { chainId, pool, tier, reasonCodes: [...reasonCodes] };
  });
  const computed = { classifiedAt: sql`now()` };
  await upsertRows(database, poolClassifications, classified, { key: ['chainId', 'pool'], computed });
  const kept = new Set(known.map(poolKey));
  const gone = pools.filter((pool) => !kept.has(poolKey(pool)));
  await deletePools(database, poolClassifications, gone);
}
