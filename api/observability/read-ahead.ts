import { sql } from 'drizzle-orm';
import { Gauge, type Registry } from 'prom-client';
import { readAttentions } from '../../db/schema/operator.ts';
import type { Queryable } from '../../db/transaction.ts';
import { upsertRows } from '../../db/write-rows.ts';
import type { ChainRounds } from '../rounds/pool-rounds.ts';

/** The rounds of a chain, as far as they tell how they serve. */
export interface ReadAhead {
  readonly rounds: Pick<ChainRounds['rounds'], 'coverage'>;
  readonly budget: ChainRounds['budget'];
}

/** Shows how many requested pools of each chain were not read at the last block, of how many. */
export function registerReadAheadMetrics(
  registry: Registry,
  chainIds: readonly number[],
  of: (chainId: number) => ReadAhead,
): void {
  const gauge = (name: string, help: string, field: 'requested' | 'unread') =>
    new Gauge({
      name,
      help,
      labelNames: ['chain'] as const,
      registers: [registry],
      collect() {
        for (const chainId of chainIds) this.set({ chain: String(chainId) }, of(chainId).rounds.coverage[field]);
      },
    });
  gauge('requested_pools', 'Pools that clients request, to be read at each new block', 'requested');
  gauge('requested_pools_unread', 'Requested pools that were not read at the last block', 'unread');
}

/**
 * Stores for `npm run status` how a chain's requested pools are read. Of several processes the last one to write counts; one
 * without requested pools writes nothing.
 *
 * @returns number of rows written
 */
export async function storeReadAhead(database: Queryable, chainId: number, ahead: ReadAhead): Promise<number> {
  const { requested, unread } = ahead.rounds.coverage;
  if (requested === 0) return 0;
  const { perMinute } = ahead.budget;
  const spent = ahead.budget.spent();
  const row = {
    chainId,
    class: 'ahead' as const,
    pools: requested,
    waiting: unread,
    backingOff: 0,
    ageSecs: null,
    callsSpent: spent.calls,
    gasSpent: Math.round(spent.gas),
    callsPerMinute: perMinute.calls,
    gasPerMinute: perMinute.gas,
  };
  const options = { key: ['chainId', 'class'], computed: { measuredAt: sql`now()` }, evenIfSame: true } as const;
  await upsertRows(database, readAttentions, [row], options);
  return 1;
}
