import { sql } from 'drizzle-orm';
import type pg from 'pg';
import { poolClassifications } from '../../db/schema/operator.ts';
import { inTransaction } from '../../db/transaction.ts';
import { deleteOtherPools, upsertRows } from '../../db/write-rows.ts';
import { classifyPool } from '../../protocol/classification.ts';
import type { OperatorRegistry } from '../pools/operator-registry.ts';
import { readClassificationFacts } from './read-facts.ts';

/**
 * Classifies every pool from what is indexed and what the operator decided, and stores what changed. All of it is done
 * anew each time: a tier depends on a dozen tables, and computing it costs less than knowing which of them changed.
 *
 * @returns number of pools classified
 */
export async function classifyPools(database: pg.Pool, registry: OperatorRegistry): Promise<number> {
  return inTransaction(database, 'REPEATABLE READ', async (client) => {
    const pools = await readClassificationFacts(client, registry, null);
    const classified = pools.map(({ chainId, pool, facts }) => {
      const { tier, reasonCodes } = classifyPool(facts);
      return { chainId, pool, tier, reasonCodes: [...reasonCodes] };
    });
    const computed = { classifiedAt: sql`now()` };
    await upsertRows(client, poolClassifications, classified, { key: ['chainId', 'pool'], computed });
    // Undone by a reorganisation, or of a deployment that was disabled.
    await deleteOtherPools(client, poolClassifications, classified);
    return classified.length;
  });
}
