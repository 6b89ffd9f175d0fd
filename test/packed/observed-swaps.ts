import { parseEventLogs } from 'viem';
import { extsload } from '../../devnet/actions.ts';
import { RevertedError } from '../../devnet/dev-chain.ts';
import { packedSwap } from '../../devnet/packed/actions.ts';
import {
  createPackedPool,
  type PackedPool,
  type PackedRecipe,
  type PackedSetup,
} from '../../devnet/packed/random-pool.fixture.ts';
import { packedPoolEvents } from '../../protocol/layouts/packed/abi.ts';
import type { ObservedSwap } from '../../protocol/layouts/packed/calibration/observe-swaps.ts';
import { packedEvents } from '../../protocol/layouts/packed/events.ts';
import { packedStorage } from '../../protocol/layouts/packed/storage.ts';
import { HEAD_SLOTS } from '../../protocol/layouts/storage.ts';
import type { PoolHead } from '../../protocol/pool-state.ts';
import { tokenScale } from '../../protocol/scaling.ts';

const Q64 = 1n << 64n;

/** An ordinary pool of tokens with these decimals: seven bins, uneven, with fees of every kind. */
export function ordinaryRecipe(decimals0: number, decimals1: number): PackedRecipe {
  const bins = [-3, -2, -1, 0, 1, 2, 3].map((bin) => ({
    bin,
    lengthE6: 4_000 + 300 * bin,
    addFeeBuyE6: bin % 2 === 0 ? 900 : 400,
    addFeeSellE6: bin % 2 === 0 ? 250 : 700,
    shares: 10n ** 20n + BigInt(bin) * 10n ** 18n,
  }));
  return {
    decimals0,
    decimals1,
    bins,
    bidX64: 3n * Q64 - 10n ** 15n,
    askX64: 3n * Q64 + 2n * 10n ** 15n,
    referenceX64: 3n * Q64,
    curBinDistFromProvidedPriceE6: -1_500,
    adminSpreadFeeE6: 150_000,
    adminNotionalFeeE8: 40_000,
  };
}

/** Swaps of a new pool in separate blocks, alternating in both directions and of both kinds. */
export async function observeSwaps(
  setup: PackedSetup,
  recipe: PackedRecipe,
  count: number,
): Promise<readonly ObservedSwap[]> {
  return observeSwapsOf(setup, await createPackedPool(setup, recipe), count);
}

/** {@link observeSwaps} of a pool that is there. */
export async function observeSwapsOf(
  setup: PackedSetup,
  pool: PackedPool,
  count: number,
): Promise<readonly ObservedSwap[]> {
  const observed: ObservedSwap[] = [];
  for (let index = 0; index < count; index++) {
    const swap = await observeSwap(setup, pool, index);
    if (swap) observed.push(swap);
  }
  return observed;
}

/** The pool as its storage words say at the latest block. */
const readStorage = async ({ chain }: PackedSetup, { address }: PackedPool): Promise<PoolHead> =>
  packedStorage.decodeHead(await extsload(chain, address, HEAD_SLOTS));

async function observeSwap(setup: PackedSetup, pool: PackedPool, index: number): Promise<ObservedSwap | null> {
  const { chain, deployment } = setup;
  const before = await readStorage(setup, pool);
  const zeroForOne = index % 2 === 0;
  const exactInput = index % 4 < 2;
  const scale = tokenScale(pool.recipe.decimals0, pool.recipe.decimals1);
  const { token0Scaled, token1Scaled } = before.binTotals;
  const whole = zeroForOne === exactInput ? token0Scaled / scale.multiplier0 : token1Scaled / scale.multiplier1;
  const amount = (whole * BigInt(7 + 11 * (index % 5))) / 100n + 1n;
  try {
    const order = { pool: pool.address, zeroForOne, amountSpecified: exactInput ? amount : -amount };
    await packedSwap(chain, deployment, order);
  } catch (error) {
    if (error instanceof RevertedError) return null;
    throw error;
  }
  const block = await chain.client.getBlockNumber();
  const logs = await chain.client.getLogs({ address: pool.address, fromBlock: block, toBlock: block });
  const events = parseEventLogs({ abi: packedPoolEvents, logs });
  const swap = events.find((event) => event.eventName === 'Swap');
  if (swap === undefined) throw new Error('the block has no Swap');
  const bins = events
    .filter((event) => event.eventName === 'BinSwapped')
    .map(({ args }) => packedEvents.BinSwapped(args));
  const after = await readStorage(setup, pool);
  return { name: `${pool.address}@${block}`, swap: packedEvents.Swap(swap.args), bins, before, after, scale };
}
