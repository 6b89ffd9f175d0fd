import { sql } from 'drizzle-orm';
import type pg from 'pg';
import { poolClassifications } from '../../db/schema/operator.ts';
import { inTransaction, type Queryable } from '../../db/transaction.ts';
import { deleteOtherPools, deletePools, upsertRows } from '../../db/write-rows.ts';
import { classifyPool } from '../../protocol/classification.ts';
import { changedKeys } from '../changes/changed-keys.ts';
import { type PoolTable, readAllPools, readMark, readPoolsOf } from '../changes/changed-pools.ts';
import { type Curators, readCurators } from '../changes/curators.ts';
import { type PoolKey, parsePoolKey, poolKey } from '../changes/pool-key.ts';
import { type IndexLook, lookAgain, lookFirst } from '../changes/recent-changes.ts';
import { readHeads, windowEnd } from '../listing/window.ts';
import type { OperatorRegistry } from '../pools/operator-registry.ts';
import { readClassificationFacts } from './read-facts.ts';

/** What was classified last. */
type Classified = { readonly look: IndexLook; readonly curators: Curators };

/** Tables of the index that a tier depends on, beside those of the pool's provider. */
const TABLES: readonly PoolTable[] = ['pool', 'pool_extension', 'stop_loss'];
/** Pools classified at a time. */
const SLICE = 1_000;

/**
 * Classifies pools from what is indexed and what the operator decided, and stores what changed: every pool in the first
 * round of a process, in later ones those of which something changed.
 *
 * @returns a function that classifies once and gives the number of pools classified
 */
export function createClassification(database: pg.Pool, registry: OperatorRegistry): () => Promise<number> {
  let last: Classified | null = null;
  return async () => {
    const round = await inTransaction(database, 'REPEATABLE READ', async (client) => {
      const { keys, isAll, ...seen } = await look(client, last);
      const count = await classify(client, registry, keys, isAll);
      return { seen, count };
    });
    last = round.seen;
    return round.count;
  };
}

/** Which pools may have another tier than at the last look. */
async function look(client: Queryable, last: Classified | null) {
  const headTs = windowEnd(await readHeads(client)) ?? 0;
  const mark = await readMark(client);
  if (mark === null) throw new Error('no index is served');
  const curators = await readCurators(client);
  const again = last === null ? null : await lookAgain(client, mark, last.look, TABLES);
  if (last === null || again === null) {
    return {
      keys: await readAllPools(client),
      isAll: true,
      look: await lookFirst(client, mark, headTs, TABLES),
      curators,
    };
  }
  const administered = await readPoolsOf(client, [...changedKeys(last.curators, curators)]);
  return { keys: [...new Set([...again.recent.keys(), ...administered])], isAll: false, look: again, curators };
}

async function classify(
  client: Queryable,
  registry: OperatorRegistry,
  keys: readonly PoolKey[],
  isAll: boolean,
): Promise<number> {
  const gone = new Set(keys);
  for (let start = 0; start < keys.length; start += SLICE) {
    const known = await readClassificationFacts(client, registry, keys.slice(start, start + SLICE));
    const classified = known.map(({ chainId, pool, facts }) => {
      const { tier, reasonCodes } = classifyPool(facts);
      gone.delete(poolKey(chainId, pool));
      return { chainId, pool, tier, reasonCodes: [...reasonCodes] };
    });
    const computed = { classifiedAt: sql`now()` };
    await upsertRows(client, poolClassifications, classified, { key: ['chainId', 'pool'], computed });
  }
  // Undone by a reorganisation, or of a deployment that was disabled.
  const kept = keys.filter((key) => !gone.has(key));
  if (isAll) await deleteOtherPools(client, poolClassifications, kept.map(parsePoolKey));
  else await deletePools(client, poolClassifications, [...gone].map(parsePoolKey));
  return kept.length;
}
