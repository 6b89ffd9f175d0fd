import { describe, expect, test } from 'vitest';
import { evenBins, stopLossExtension } from '../../devnet/pools.ts';
import { quoteApi } from './quote-api.ts';
import { chainConfig, longTimeouts, makeCutPool, makePool, quoteWorld } from './quote-world.ts';
import { directoryOf } from './served-pool.ts';
import { withProxies } from './with-proxies.ts';

const quotes = { ...longTimeouts, minRefreshMs: 20 };

const world = quoteWorld();

function pricesOf(result: Awaited<ReturnType<ReturnType<typeof quoteApi>['results']>>[number]) {
  if (!('quote' in result)) throw new Error('it is no quote');
  const { bidAdj, askAdj, depth, priceProviderStatus } = result.quote;
  return { bidAdj, askAdj, depth, priceProviderStatus };
}

describe.each(['refuse', 'ignore'] as const)('a node that has no state overrides (%s)', (how) => {
  test('quotes the same prices, levels and guards, by inversion', () =>
    withProxies(world.anvil.url, async (first, second) => {
      const pair = await world.pair(18, 18);
      const cut = await makeCutPool(world, pair, 40, 6);
      const plain = await makePool(world, {
        pair,
        price: 1.5,
        bins: evenBins(-3, 3, 700),
        notionalFeeE8: 3_000,
        extensions: [stopLossExtension(world.deployment)],
      });
      const pools = [cut.address, plain.address];
      const directory = await directoryOf(world, pools);
      const apiWith = (node: string) => quoteApi({ chain: chainConfig(31337, [node]), directory, quotes });
      first.misbehave({ kind: 'noOverrides', how });
      const exact = await apiWith(second.url).results(pools);
      // Another node applies them: nothing is lost.
      const either = quoteApi({ chain: chainConfig(31337, [first.url, second.url]), directory, quotes });
      expect((await either.results(pools)).map(pricesOf)).toEqual(exact.map(pricesOf));
      const inverted = await apiWith(first.url).results(pools);
      for (const [index, result] of inverted.entries()) {
        const other = exact[index];
        if (!('quote' in result) || !other || !('quote' in other)) throw new Error('both are quotes');
        expect([result.quote.bidAdj, result.quote.askAdj]).toEqual([other.quote.bidAdj, other.quote.askAdj]);
        const [levels, otherLevels] = [result.quote, other.quote].map(({ depth }) => [
          ...(depth?.bids ?? []),
          ...(depth?.asks ?? []),
        ]);
        expect(levels?.length).toBe(otherLevels?.length);
        for (const [at, level] of (levels ?? []).entries()) {
          const difference =
            BigInt(level.cumulativeInputVolume) - BigInt(otherLevels?.[at]?.cumulativeInputVolume ?? 0);
          // The quote may be off by some units of 2^-64: 10^18 raw units move by as little.
          expect(difference < 0n ? -difference : difference).toBeLessThanOrEqual(10n ** 13n);
        }
      }
    }));
});
