import { client, type Pool, type PoolTrend } from './api.ts';
import { chainNamed } from './chains.ts';
import { usePolled } from './polling.ts';

const EVERY_MS = 30_000;

/** Names a pool among those of all chains. */
export const keyOf = ({ chain, poolAddress }: Pick<Pool, 'chain' | 'poolAddress'>): string => `${chain}:${poolAddress}`;

/** Trends by {@link keyOf}. */
export type Trends = ReadonlyMap<string, PoolTrend>;

/** Loads the trends of all pools on a page, in one request per chain. */
export function useTrends(pools: readonly Pool[]): Trends | null {
  const names = [...new Set(pools.map(({ chain }) => chain))];
  const isKnown = pools.length > 0 && names.every(chainNamed);
  const load = async (signal: AbortSignal) => {
    const found = await Promise.all(
      names.map(async (chain) => {
        const own = pools.filter((pool) => pool.chain === chain);
        const addresses = own.map(({ poolAddress }) => poolAddress).join();
        const { data } = await client.listTrends({ chainId: chainNamed(chain)?.chainId ?? 0, addresses }, { signal });
        return data.map((trend) => [keyOf({ chain, poolAddress: trend.poolAddress }), trend] as const);
      }),
    );
    return new Map(found.flat());
  };
  return usePolled(isKnown ? pools.map(keyOf).sort().join() : null, load, EVERY_MS).data;
}

/**
 * Gives the points of a spark line in a box of this size, from the first known price to now; empty without two prices.
 */
export function sparkPoints({ changesE6 }: PoolTrend, width: number, height: number): string {
  const known = changesE6.flatMap((change, step) => (change === null ? [] : [[step, change] as const]));
  if (known.length < 2) return '';
  const [first = 0, last = 0] = [known[0]?.[0], known.at(-1)?.[0]];
  const values = known.map(([, change]) => change);
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const x = (step: number) => ((step - first) / (last - first)) * width;
  const y = (change: number) => (high === low ? height / 2 : height - ((change - low) / (high - low)) * height);
  return known.map(([step, change]) => `${x(step).toFixed(1)},${y(change).toFixed(1)}`).join(' ');
}
