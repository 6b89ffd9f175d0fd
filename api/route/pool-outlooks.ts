import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import { eventLayout } from '../../protocol/layouts/event-layouts.ts';
import { type Outlook, outlookOf, type Prospect } from '../../protocol/routing/prospect.ts';
import type { CurveReport } from '../observability/curve-metrics.ts';
import type { ServedPool } from '../snapshots/pool-directory.ts';
import { type DepthSnapshot, SnapshotError } from '../snapshots/types.ts';

/** Both directions of a pool: bids sell token0. */
interface Outlooks {
  readonly bids: Outlook;
  readonly asks: Outlook;
}

/** What is on record of a pool: it is claimed to be executable. */
export interface PoolRecord extends Outlooks {
  readonly tierRank: number;
}

const NONE: Outlook = { inputs: [], outputs: [] };
const NO_RECORD: PoolRecord = { bids: NONE, asks: NONE, tierRank: 0 };
/** Of so many pools the depth seen last is remembered: about 1 KB each. */
const REMEMBERED = 10_000;
/** A pool that showed no depth counts by its record again after this time. */
const CLOSED_MS = 60_000;
/** What the read of a simulated pool counts: it takes calls of its own. */
const SIMULATED_COST = 5;

/** What routes know of pools before they read them: the depth seen last, else what is on record. */
export class PoolOutlooks {
  readonly #seen = new LRUCache<ServedPool, Outlooks>({ max: REMEMBERED });
  readonly #records = new Map<number, ReadonlyMap<Address, PoolRecord>>();
  readonly #ranks = new LRUCache<string, CurveReport['rank']>({ max: REMEMBERED });

  prospect(pool: ServedPool, zeroForOne: boolean): Prospect<ServedPool> {
    // Reads keep an entry, not questions: thousands are asked about in a request.
    const seen = this.#seen.peek(pool);
    const records = this.#records.get(pool.chainId);
    const record = records && (records.get(pool.address) ?? NO_RECORD);
    const known = seen ?? record;
    return {
      pool,
      outlook: known ? known[zeroForOne ? 'bids' : 'asks'] : null,
      isSeen: seen !== undefined,
      tierRank: record?.tierRank ?? 0,
      cost: this.cost(pool),
    };
  }

  /** What a read of the pool counts: where fees are not public it may be simulated, unless it is known to be read cheaper. */
  cost({ chainId, address, layout }: ServedPool): number {
    if (eventLayout(layout).tellsSwaps) return 1;
    const rank = this.#ranks.get(`${chainId}:${address}`);
    return rank === 'formula' || rank === 'fit' ? 1 : SIMULATED_COST;
  }

  /** Whether every level of the pool was simulated when it was read last, or nothing explained its fees. */
  isSimulated({ chainId, address }: Pick<ServedPool, 'chainId' | 'address'>): boolean {
    const rank = this.#ranks.get(`${chainId}:${address}`);
    return rank === 'simulation' || rank === 'none';
  }

  /** Remembers what snapshots showed. A read that failed for the chain's sake says nothing of the pool. */
  see(pools: readonly ServedPool[], snapshots: ReadonlyMap<Address, DepthSnapshot | SnapshotError>): void {
    for (const pool of pools) {
      const snapshot = snapshots.get(pool.address);
      if (!snapshot || saysNothing(snapshot)) continue;
      const { bids, asks } = snapshot instanceof SnapshotError ? { bids: [], asks: [] } : snapshot.depth;
      const isClosed = bids.length === 0 && asks.length === 0;
      this.#seen.set(pool, { bids: outlookOf(bids), asks: outlookOf(asks) }, isClosed ? { ttl: CLOSED_MS } : {});
    }
  }

  /** Takes how curves of a chain's pools became known. */
  reports(chainId: number): (report: Pick<CurveReport, 'pool' | 'rank'>) => void {
    return ({ pool, rank }) => this.#ranks.set(`${chainId}:${pool}`, rank);
  }

  /** Takes the records of all pools of a chain that have one; without any, nothing is known of its pools. */
  record(chainId: number, records: ReadonlyMap<Address, PoolRecord>): void {
    if (records.size > 0) this.#records.set(chainId, records);
    else this.#records.delete(chainId);
  }
}

/** Whether the read failed for the chain's sake. */
function saysNothing(snapshot: DepthSnapshot | SnapshotError): boolean {
  return snapshot instanceof SnapshotError ? snapshot.code !== 'unavailable' : snapshot.status === 'internal_error';
}
