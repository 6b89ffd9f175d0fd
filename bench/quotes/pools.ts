import type { Address } from 'viem';
import { evenBins, stopLossExtension } from '../../devnet/pools.ts';
import {
  evenShares,
  makeCutPool,
  makePool,
  type Pair,
  type QuoteWorld,
  SHARES_OF_ONE,
} from '../../test/quotes/quote-world.ts';

export const BINS_PER_SIDE = 60;
const CUT = 5;
const GUARDED = 20;

export interface BenchPools {
  readonly plain: readonly Address[];
  /** Stop losses; the first five cut a side part-way. */
  readonly guarded: readonly Address[];
}

/** Pools of sixty bins a side, all funded. */
export async function makeBenchPools(world: QuoteWorld, count: number): Promise<BenchPools> {
  const pair = await world.pair(18, 6);
  const guarded: Address[] = [];
  for (let index = 0; index < CUT; index++) {
    guarded.push((await makeCutPool(world, pair, BINS_PER_SIDE, 15 + 5 * index)).address);
  }
  for (let index = CUT; index < GUARDED; index++) guarded.push(await makeBenchPool(world, pair, true));
  const plain: Address[] = [];
  for (let index = GUARDED; index < count; index++) plain.push(await makeBenchPool(world, pair, false));
  return { plain, guarded };
}

/** A funded pool of sixty bins a side beside the current one. */
export async function makeBenchPool(world: QuoteWorld, pair: Pair, isGuarded: boolean): Promise<Address> {
  const guard = stopLossExtension(world.deployment, { drawdownE6: 50_000, decayPerSecondE8: 0, timelockSecs: 100 });
  const bins = evenBins(-BINS_PER_SIDE, BINS_PER_SIDE, 100);
  const shares = evenShares(-BINS_PER_SIDE, BINS_PER_SIDE, SHARES_OF_ONE);
  return (await makePool(world, { pair, bins, price: 2_000, shares, extensions: isGuarded ? [guard] : [] })).address;
}
