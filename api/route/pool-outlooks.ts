import { LRUCache } from 'lru-cache';
import type { Address } from 'viem';
import { eventLayout } from '../../protocol/layouts/event-layouts.ts';
import { LiquidityIndex } from '../../protocol/routing/liquidity-index.ts';
import { type Outlook, outlookOf, type Prospect } from '../../protocol/routing/prospect.ts';
import type { CurveReport } from '../observability/curve-metrics.ts';
import { isOpenToAnyone, type ServedPool } from '../snapshots/pool-directory.ts';
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
const REMEMBERED = 5_000;
/** A pool that showed no depth counts by its record again after this time. */
const CLOSED_MS = 60_000;
/** What the read of a simulated pool counts: it takes calls of its own. */
const SIMULATED_COST = 5;

/** What routes know of a chain's pools before they read them: the depth seen last, else what is on record. */
export class ChainOutlooks {
  /** Pools by what they can give: kept up to date with all that is known. */
  readonly index = new LiquidityIndex<ServedPool>();
  readonly #seen: LRUCache<ServedPool, Outlooks>;
  readonly #records = new Map<ServedPool, PoolRecord>();
  readonly #ranks: LRUCache<Address, CurveReport['rank']>;
  /** Snapshots that were looked at: warm requests show the same ones again. */
  readonly #shown = new WeakSet<DepthSnapshot>();

  /** @param remembered of so many pools the depth seen last is remembered: about 1 KB each */
  constructor(remembered = REMEMBERED) {
    this.#seen = new LRUCache<ServedPool, Outlooks>({
      max: remembered,
      disposeAfter: (_, pool, reason) => {
        if (reason !== 'set') this.#place(pool);
      },
    });
    this.#ranks = new LRUCache({ max: remembered });
  }

  /** Takes how the curve of a pool became known. */
  readonly report = ({ pool, rank }: Pick<CurveReport, 'pool' | 'rank'>): void => {
    this.#ranks.set(pool, rank);
  };

  prospect(pool: ServedPool, zeroForOne: boolean): Prospect<ServedPool> {
    const seen = this.#seen.peek(pool);
    const record = this.#recordOf(pool);
    const known = seen ?? record;
    return {
      pool,
      outlook: known ? known[zeroForOne ? 'bids' : 'asks'] : null,
      isSeen: seen !== undefined,
      tierRank: record?.tierRank ?? 0,
      cost: this.cost(pool),
    };
  }

  /** Tells pools of which nothing is known; null once the records of the chain were read. */
  get isUnknown(): ((pool: ServedPool) => boolean) | null {
    return this.#records.size > 0 ? null : (pool) => !this.#seen.has(pool);
  }

  /** What a read of the pool counts: where fees are not public it may be simulated, unless it is known to be read cheaper. */
  cost({ address, layout }: ServedPool): number {
    if (eventLayout(layout).tellsSwaps) return 1;
    const rank = this.#ranks.get(address);
    return rank === 'formula' || rank === 'fit' ? 1 : SIMULATED_COST;
  }

  /** How the curve of the pool became known when it was read last. */
  rank({ address }: Pick<ServedPool, 'address'>): CurveReport['rank'] | undefined {
    return this.#ranks.get(address);
  }

  /** Remembers what snapshots showed. A read that failed for the chain's sake says nothing of the pool. */
  see(pools: readonly ServedPool[], snapshots: ReadonlyMap<Address, DepthSnapshot | SnapshotError>): void {
    for (const pool of pools) {
      const snapshot = snapshots.get(pool.address);
      if (!snapshot || saysNothing(snapshot)) continue;
      if (this.#seen.get(pool) && !(snapshot instanceof SnapshotError) && this.#shown.has(snapshot)) continue;
      const { bids, asks } = snapshot instanceof SnapshotError ? { bids: [], asks: [] } : snapshot.depth;
      const isClosed = bids.length === 0 && asks.length === 0;
      this.#seen.set(pool, { bids: outlookOf(bids), asks: outlookOf(asks) }, isClosed ? { ttl: CLOSED_MS } : {});
      this.#place(pool);
      if (!(snapshot instanceof SnapshotError)) this.#shown.add(snapshot);
    }
  }

  /** Takes the record of a pool, null when it has none. */
  record(pool: ServedPool, record: PoolRecord | null): void {
    if (!record) this.#records.delete(pool);
    else if (!isSame(this.#records.get(pool), record)) this.#records.set(pool, record);
    this.#place(pool);
  }

  #recordOf(pool: ServedPool): PoolRecord | undefined {
    return this.#records.get(pool) ?? (this.#records.size > 0 ? NO_RECORD : undefined);
  }

  /** Puts a pool in its place in the index; routes do not look there for one that is read only when it is named. */
  #place(pool: ServedPool): void {
    if (!isOpenToAnyone(pool)) return;
    const seen = this.#seen.peek(pool);
    const known = seen ?? this.#records.get(pool);
    this.index.put(pool, known ? { ...liquidityOf(known), isSeen: seen !== undefined } : null);
  }
}

/** What routes know of pools, by chain. */
export class PoolOutlooks {
  readonly #chains = new Map<number, ChainOutlooks>();
  readonly #remembered: number;

  /** @param remembered of so many pools of each chain the depth seen last is remembered */
  constructor(remembered = REMEMBERED) {
    this.#remembered = remembered;
  }

  of(chainId: number): ChainOutlooks {
    const chain = this.#chains.get(chainId) ?? new ChainOutlooks(this.#remembered);
    this.#chains.set(chainId, chain);
    return chain;
  }
}

const liquidityOf = ({ bids, asks }: Outlooks) => ({
  bids: bids.outputs.at(-1) ?? 0,
  asks: asks.outputs.at(-1) ?? 0,
});

/** Of records, which have one point a side. */
function isSame(a: PoolRecord | undefined, b: PoolRecord): boolean {
  const same = (one: Outlook, other: Outlook) =>
    one.inputs.at(-1) === other.inputs.at(-1) && one.outputs.at(-1) === other.outputs.at(-1);
  return a !== undefined && a.tierRank === b.tierRank && same(a.bids, b.bids) && same(a.asks, b.asks);
}

/** Whether the read failed for the chain's sake. */
function saysNothing(snapshot: DepthSnapshot | SnapshotError): boolean {
  return snapshot instanceof SnapshotError ? snapshot.code !== 'unavailable' : snapshot.status === 'internal_error';
}
