import { queriesOn } from '../../db/query-builder.ts';
import { pools } from '../../db/schema/read-model.ts';
import type { Queryable } from '../../db/transaction.ts';
import { isSuccessor, type Mark, readChangedPools, readPoolsOf, readWritten } from '../changes/changed-pools.ts';
import { type PoolKey, poolKey } from '../changes/pool-key.ts';
import { changedPrices, type KnownPool, pastDue } from './known-pools.ts';
import { changedCurators, type OutsideData, relisted } from './outside-data.ts';

/** What a process published last. */
export type Published = {
  readonly generation: number;
  readonly mark: Mark;
  readonly toTs: number;
  readonly outside: OutsideData;
  readonly known: ReadonlyMap<PoolKey, KnownPool>;
  /** Pools that the index changed lately, with the time by our clock, ms: a reorganisation may take rows back without a trace. */
  readonly recent: ReadonlyMap<PoolKey, number>;
  /** Pools of less than a dollar that wait for other prices. */
  readonly waiting: ReadonlySet<PoolKey>;
};

/** What a refresh sees. */
export type Seen = Pick<Published, 'generation' | 'mark' | 'toTs' | 'outside'>;

/** What is to be computed, and what the next refresh has to look at again. */
export type Due = Pick<Published, 'recent' | 'waiting'> & {
  readonly keys: readonly PoolKey[];
  /** Whether these are all pools there are. */
  readonly isAll: boolean;
};

/** Ponder takes back 13 minutes at most on the chains that it knows: 65 blocks of Ethereum. */
const RECENT_SECS = 900;

const TABLES = ['pool', 'pool_state', 'pool_extension', 'stop_loss', 'price_velocity', 'allowlist'] as const;

/** Whether what changed since can be told: otherwise every pool is due. */
export function isContinued(seen: Seen, last: Published): boolean {
  return (
    isSuccessor(seen.mark, last.mark) &&
    seen.generation >= last.generation &&
    seen.toTs >= last.toTs &&
    seen.outside.readings === last.outside.readings
  );
}

export async function allPools(client: Queryable, { mark, toTs }: Seen): Promise<Due> {
  const rows = await queriesOn(client)
    .select({ chainId: pools.chainId, address: pools.address })
    .from(pools)
    .orderBy(pools.chainId, pools.address);
  const recent = await readChangedPools(client, mark, { eventsAfter: toTs - RECENT_SECS }, TABLES);
  const now = Date.now();
  return {
    isAll: true,
    keys: rows.map(({ chainId, address }) => poolKey(chainId, address)),
    recent: new Map([...recent].map((key) => [key, now])),
    waiting: new Set(),
  };
}

/**
 * @param last see {@link isContinued}
 * @param repriced how many of the pools that wait for other prices are taken
 */
export async function changedPools(client: Queryable, seen: Seen, last: Published, repriced: number): Promise<Due> {
  const now = Date.now();
  const changed = await readChangedPools(client, seen.mark, { mark: last.mark }, TABLES);
  const recent = new Map([...last.recent].filter(([, at]) => at > now - RECENT_SECS * 1000));
  for (const key of changed) recent.set(key, now);
  const prices = changedPrices(last.outside.prices, seen.outside.prices);
  const due = pastDue(last.known, seen.toTs, prices, seen.outside.prices);
  const waiting = new Set([...last.waiting, ...due.later]);
  const keys = new Set([
    ...recent.keys(),
    ...due.now,
    ...(await readWritten(client, 'pool_classification', last.mark)),
    ...(await readWritten(client, 'pool_storage', last.mark)),
    ...relisted(last.outside, seen.outside),
    ...(await readPoolsOf(client, changedCurators(last.outside, seen.outside))),
    ...[...waiting].slice(0, repriced),
  ]);
  for (const key of keys) waiting.delete(key);
  return { isAll: false, keys: [...keys], recent, waiting };
}
