import type pg from 'pg';
import { inTransaction, type Queryable } from '../../db/transaction.ts';
import { type Classification, classifyPool } from '../../protocol/classification.ts';
import type { OperatorRegistry } from '../pools/operator-registry.ts';
import { readClassificationFacts } from './read-facts.ts';

type ClassifiedPool = Classification & { readonly chainId: number; readonly pool: string };

/**
 * Classifies every pool from what is indexed and what the operator decided, and stores what changed. All of it is done
 * anew each time: a tier depends on a dozen tables, and computing it costs less than knowing which of them changed.
 *
 * @returns number of pools classified
 */
export async function classifyPools(database: pg.Pool, registry: OperatorRegistry): Promise<number> {
  return inTransaction(database, 'REPEATABLE READ', async (client) => {
    const pools = await readClassificationFacts(client, registry);
    const classified = pools.map(({ chainId, pool, facts }) => ({ chainId, pool, ...classifyPool(facts) }));
    await store(client, classified);
    await forgetOthers(client, classified);
    return classified.length;
  });
}

async function store(client: Queryable, pools: readonly ClassifiedPool[]): Promise<void> {
  const codes = pools.map(({ reasonCodes }) => reasonCodes.join(','));
  const columns = [pools.map(({ chainId }) => chainId), pools.map(({ pool }) => pool), pools.map(({ tier }) => tier)];
  await client.query(
    `INSERT INTO operator.pool_classification AS old (chain_id, pool, tier, reason_codes)
     SELECT chain_id, pool, tier, string_to_array(codes, ',')
     FROM unnest($1::int8[], $2::text[], $3::text[], $4::text[]) AS new (chain_id, pool, tier, codes)
     ON CONFLICT (chain_id, pool) DO UPDATE
     SET tier = excluded.tier, reason_codes = excluded.reason_codes, classified_at = now()
     WHERE (old.tier, old.reason_codes) IS DISTINCT FROM (excluded.tier, excluded.reason_codes)`,
    [...columns, codes],
  );
}

/** Takes out pools that are there no more: undone by a reorganisation, or of a deployment that was disabled. */
async function forgetOthers(client: Queryable, pools: readonly ClassifiedPool[]): Promise<void> {
  await client.query(
    `DELETE FROM operator.pool_classification t WHERE NOT EXISTS (
       SELECT FROM unnest($1::int8[], $2::text[]) AS k (chain_id, pool)
       WHERE k.chain_id = t.chain_id AND k.pool = t.pool)`,
    [pools.map(({ chainId }) => chainId), pools.map(({ pool }) => pool)],
  );
}
