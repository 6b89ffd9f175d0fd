import type { Address } from 'viem';
import type { QuoteKind } from '../../quoting/types.ts';

/** The version of a pool of which nothing was sent: its first quote is sent in a `snapshot`. */
export const NOT_SENT = -1;
/** A version that no quote has: a pool with it is sent again, as an update. */
export const OUTDATED = 0;

/** A pool that a connection subscribes to. */
export interface SubscribedPool {
  readonly address: Address;
  readonly kind: QuoteKind;
}

/**
 * The pools that a connection subscribes to, and what its client was sent of each, all in the same order. What was sent
 * stands in lists of its own, so that a message to many pools costs two copies of numbers, and no object per pool.
 */
export interface SubscribedPools {
  readonly pools: readonly SubscribedPool[];
  /** Versions of the last quotes that were sent, or `NOT_SENT` or `OUTDATED`. */
  readonly versions: readonly number[];
  /** Numbers of the blocks of the messages with these quotes. */
  readonly sentAt: readonly bigint[];
  /** XOR of the numbers of these pools. It identifies them and their kinds, in any order. */
  readonly number: bigint;
}

export const NO_POOLS: SubscribedPools = { pools: [], versions: [], sentAt: [], number: 0n };

/** Whether a pool is among them. Looks at each: for what happens seldom. */
export const hasPool = ({ pools }: SubscribedPools, pool: Address): boolean =>
  pools.some(({ address }) => address === pool);

/** Adds pools, each in place of what was subscribed of it before, as if they were sent in this version. */
export function withPools(
  before: SubscribedPools,
  addresses: readonly Address[],
  { kind, version }: { readonly kind: QuoteKind; readonly version: number },
): SubscribedPools {
  const kept = withoutPools(before, new Set(addresses));
  return {
    pools: [...kept.pools, ...addresses.map((address) => ({ address, kind }))],
    versions: [...kept.versions, ...addresses.map(() => version)],
    sentAt: [...kept.sentAt, ...addresses.map(() => 0n)],
    number: addresses.reduce((number, address) => number ^ numberOf({ address, kind }), kept.number),
  };
}

export function withoutPools(before: SubscribedPools, left: ReadonlySet<Address>): SubscribedPools {
  const leaving = before.pools.filter(({ address }) => left.has(address));
  if (leaving.length === 0) return before;
  const stays = (_: unknown, index: number) => !left.has((before.pools[index] as SubscribedPool).address);
  return {
    pools: before.pools.filter(stays),
    versions: before.versions.filter(stays),
    sentAt: before.sentAt.filter(stays),
    number: leaving.reduce((number, pool) => number ^ numberOf(pool), before.number),
  };
}

/** Names these pools and kinds in ids of messages. */
export const poolSetName = ({ number }: SubscribedPools): string => number.toString(36);

/** The number of a pool and kind. Different sets have the same XOR of numbers only by accident. */
const numberOf = ({ address, kind }: SubscribedPool): bigint =>
  2n * BigInt(`0x${address.slice(-16)}`) + (kind === 'depths' ? 1n : 0n);
