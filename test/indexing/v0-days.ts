import type { V0PoolOnChain, V0SwapLog } from './v0-chain.ts';

const DAY = 86_400;

/** A day of a pool by its logs. */
export interface LoggedV0Day {
  readonly pool: string;
  readonly swap_count: number;
  readonly swap_tx_count: number;
  readonly sender_count: number;
  readonly volume0_raw: bigint;
  readonly volume1_raw: bigint;
  /** By inputs, US dollars; null where one has no price. */
  readonly volume_usd: number | null;
}

const abs = (amount: bigint): bigint => (amount < 0n ? -amount : amount);
const paidIn = (amount: bigint): bigint => (amount > 0n ? amount : 0n);

/**
 * The day that begins at `day`, of each of the pools with a swap in it.
 *
 * @param usdOf US dollars of a raw unit of a token; null without a price
 */
export function loggedV0Days(
  logs: readonly V0SwapLog[],
  pools: readonly V0PoolOnChain[],
  day: number,
  usdOf: (token: string) => number | null,
): LoggedV0Day[] {
  const today = logs.filter(({ timestamp }) => timestamp >= day && timestamp < day + DAY);
  return pools.flatMap(({ address, token0, token1 }) => {
    const swaps = today.filter(({ pool }) => pool === address);
    if (swaps.length === 0) return [];
    const sum = (token: 0 | 1, part: (amount: bigint) => bigint) =>
      swaps.reduce((total, { amounts }) => total + part(amounts[token]), 0n);
    const dollars = ([token0, token1] as const).map((token, place) => {
      const paid = sum(place as 0 | 1, paidIn);
      const usd = usdOf(token);
      return paid === 0n ? 0 : usd === null ? Number.NaN : Number(paid) * usd;
    });
    const volume = dollars.reduce((total, each) => total + each, 0);
    return {
      pool: address,
      swap_count: swaps.length,
      swap_tx_count: new Set(swaps.map(({ transaction }) => transaction)).size,
      sender_count: new Set(swaps.map(({ sender }) => sender)).size,
      volume0_raw: sum(0, abs),
      volume1_raw: sum(1, abs),
      volume_usd: Number.isNaN(volume) ? null : volume,
    };
  });
}
