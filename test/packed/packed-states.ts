import type { Hex } from 'viem';
import { setQuote } from '../../devnet/packed/providers.ts';
import { type PricedPool, pricePool } from '../../protocol/layouts/ladder.ts';
import { MAX_POSITION } from '../../protocol/pool-state.ts';
import { overrides, type PackedChain, type PackedTestPool } from './packed-chain.ts';

const E18 = 10n ** 18n;
const Q64 = 1n << 64n;

/** Code that answers any call with the quote. */
export function quotingCode(pool: PackedTestPool, priced: PricedPool): Hex {
  return overrides(pool, priced).find(({ address }) => address === pool.provider)?.code ?? '0x';
}

/** Writes a state into a pool's storage and its provider's quote, permanently; it counts from the next block on. */
export async function bringAbout({ chain }: PackedChain, pool: PackedTestPool, priced: PricedPool): Promise<void> {
  const stored = overrides(pool, priced).find(({ address }) => address === pool.address);
  await Promise.all(
    (stored?.stateDiff ?? []).map(({ slot, value }) =>
      chain.client.setStorageAt({ address: pool.address, index: slot, value }),
    ),
  );
  await setQuote(chain, pool.provider, priced.quote);
}

/** Bins of a few tenths of a percent with two additional fees, and the cursor inside the middle one. */
export function ordinary({ immutables }: PackedTestPool): PricedPool {
  const bins = Array.from({ length: immutables.highestBin - immutables.lowestBin + 1 }, (_, index) => {
    const bin = immutables.lowestBin + index;
    return {
      token0Scaled: bin >= 0 ? 37n * E18 : 0n,
      token1Scaled: bin <= 0 ? 91n * E18 : 0n,
      lengthE6: 3_000 + 100 * index,
      addFeeBuyE6: bin < 2 ? 300 : 800,
      addFeeSellE6: bin > -2 ? 500 : 200,
    };
  });
  const cursor = { bin: 0, position: MAX_POSITION / 3n, lowerDistE6: -700 };
  const quote = {
    bidX64: (Q64 * 24_995n) / 10_000n,
    askX64: (Q64 * 25_006n) / 10_000n,
    referenceX64: (Q64 * 25n) / 10n,
  };
  return pricePool({ ...immutables, pauseLevel: 0, cursor, spreadFeeE6: 100_000, notionalFeeE8: 70_000, bins }, quote);
}
