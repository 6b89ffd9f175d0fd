import type { Queryable } from '../../db/transaction.ts';
import { changedKeys } from '../changes/changed-keys.ts';
import { type Mark, type PoolTable, readAllPools, readPoolsOf, readWritten } from '../changes/changed-pools.ts';
import type { PoolKey } from '../changes/pool-key.ts';
import { type IndexLook, lookAgain, lookFirst } from '../changes/recent-changes.ts';
import { type KnownPool, type Prices, pastDue } from './known-pools.ts';
import { type OutsideData, relisted } from './outside-data.ts';

/** What a process published last. */
export type Published = {
  readonly generation: number;
  /** Of the code and settings that computed it; null: not known. */
  readonly version: string | null;
  readonly look: IndexLook;
  readonly toTs: number;
  readonly outside: OutsideData;
  readonly known: ReadonlyMap<PoolKey, KnownPool>;
  /** Pools that are not funded and wait for other prices. */
  readonly waiting: ReadonlySet<PoolKey>;
};

/** What a refresh sees. */
export type Seen = Pick<Published, 'generation' | 'version' | 'toTs' | 'outside'> & {
  readonly mark: Mark;
  /** Prices that were published last, perhaps by another process. */
  readonly shownPrices: Prices;
};

/** Which pools are computed anew when prices change. */
export type Repricing = {
  /** Those that hold so much in priced tokens: at once. */
  readonly fromUsd: number;
  /** Of the others: so many in each refresh. */
  readonly pools: number;
};

/** What is to be computed, and what the next refresh has to look at again. */
export type Due = Pick<Published, 'look' | 'waiting'> & {
  readonly keys: readonly PoolKey[];
  /** Whether these are all pools there are. */
  readonly isAll: boolean;
};

const TABLES: readonly PoolTable[] = [
  'pool',
  'pool_state',
  'pool_extension',
  'stop_loss',
  'price_velocity',
  'allowlist',
];

/** Pools that may be other than they were published: all of them, when that cannot be told. */
export async function duePools(
  client: Queryable,
  seen: Seen,
  last: Published | null,
  repricing: Repricing,
): Promise<Due> {
  const look = last && isContinued(seen, last) ? await lookAgain(client, seen.mark, last.look, TABLES) : null;
  if (last !== null && look !== null) return changedPools(client, seen, last, look, repricing);
  return {
    isAll: true,
    keys: await readAllPools(client),
    look: await lookFirst(client, seen.mark, seen.toTs, TABLES),
    waiting: new Set(),
  };
}

/**
 * False also when another listing was restored than the one published, what is decided of packed factories changed, or a
 * migration ran.
 */
function isContinued(seen: Seen, last: Published): boolean {
  const isLater = seen.generation >= last.generation && seen.toTs >= last.toTs;
  return isLater && seen.version === last.version && seen.outside.readings === last.outside.readings;
}

async function changedPools(
  client: Queryable,
  seen: Seen,
  last: Published,
  look: IndexLook,
  repricing: Repricing,
): Promise<Due> {
  const { prices } = seen.outside;
  const changed = new Set([...changedKeys(last.outside.prices, prices), ...changedKeys(seen.shownPrices, prices)]);
  const due = pastDue(last.known, seen.toTs, changed, prices, repricing.fromUsd);
  const waiting = new Set([...last.waiting, ...due.later]);
  const curators = [...changedKeys(last.outside.curators, seen.outside.curators)];
  const keys = new Set([
    ...look.recent.keys(),
    ...due.now,
    ...(await readWritten(client, 'pool_classification', last.look.mark)),
    ...(await readWritten(client, 'pool_storage', last.look.mark)),
    ...relisted(last.outside, seen.outside),
    ...(await readPoolsOf(client, curators)),
    ...[...waiting].slice(0, repricing.pools),
  ]);
  for (const key of keys) waiting.delete(key);
  return { isAll: false, keys: [...keys], look, waiting };
}
