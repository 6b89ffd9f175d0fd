import fc from 'fast-check';
import type { Address } from 'viem';
import { describe, expect, test } from 'vitest';
import { packedVariant } from '../../devnet/packed/variants.ts';
import { type Random, seededRandom } from '../../devnet/traffic/random.ts';
import type { SwapAmounts } from '../../protocol/curve.ts';
import { assertUntil } from '../harness/assert-until.ts';
import { startedWorld } from '../harness/open-world.ts';
import { runs } from '../harness/property-seed.ts';
import { amountsOf, type Level, tradingLevels } from './chain-curve.ts';
import { type GuardedPool, type GuardedSpec, openGuardedMarket } from './guarded-market.ts';
import { quoteApi } from './quote-api.ts';
import { chainConfig } from './quote-world.ts';
import { fixedDirectory, servedPool } from './served-pool.ts';
import { scaleWatermarks } from './watermarks.ts';

/*
 * The promise of depth, at random amounts within bins and within the last millionth before their edges: the chain's own
 * simulation takes every one of them, in states that trades alone and set watermarks lead to.
 */

const MARKETS = [
  ['flat', null, 'mean'],
  ['packed, by a formula', packedVariant('sumOnPrice'), 'bidAsk'],
  ['packed, fitted or simulated, by a mark that nobody told', packedVariant('quotient'), null],
] as const;
const POOLS = runs(1);
const READS_PER_POOL = 6;
const DRAWN_PER_SIDE = 90;
/** Of both sides over all reads, some of which offer nothing. */
const AMOUNTS_PER_POOL = 400;
const CLOSED_ASK = ((1n << 128n) - 1n).toString();

const KINDS = [
  { decimals0: 18, decimals1: 18, valuePerShare: 10n ** 18n },
  { decimals0: 18, decimals1: 6, valuePerShare: 10n ** 18n },
  { decimals0: 6, decimals1: 8, valuePerShare: 10n ** 18n },
  { decimals0: 18, decimals1: 18, valuePerShare: 300n },
  // As coarse as a stop loss that counts in millionths: a share is worth 300 units of token1,
  // each of them 3,333 of token0.
  { decimals0: 18, decimals1: 18, valuePerShare: 1_000_000n, price: 0.000_3 },
] as const;

const spec: fc.Arbitrary<GuardedSpec> = fc
  .record({
    kind: fc.constantFrom(...KINDS),
    price: fc.constantFrom(1.5, 40, 2_000),
    below: fc.integer({ min: 1, max: 6 }),
    above: fc.integer({ min: 1, max: 6 }),
    lengthE6: fc.constantFrom(100, 1_000, 4_000),
    notionalFeeE8: fc.constantFrom(0, 3_000),
    drawdownE6: fc.constantFrom(2_000, 10_000, 50_000),
  })
  .map(({ kind, ...rest }) => ({ ...rest, ...kind }));

const trades = fc.array(
  fc.record({
    zeroForOne: fc.boolean(),
    partE3: fc.integer({ min: 10, max: 1_000 }),
    move: fc.integer({ min: -100, max: 100 }),
  }),
  { minLength: 3, maxLength: 6 },
);

/** A price, in hundredths of the drawdown from the first one, and what watermarks are set to beforehand. */
const read = fc.record({
  move: fc.integer({ min: -130, max: 130 }),
  watermarks: fc.option(fc.array(fc.integer({ min: -60, max: 110 }), { minLength: 13, maxLength: 13 })),
  seed: fc.nat(),
});

const story = fc.record({
  spec,
  trades,
  reads: fc.array(read, { minLength: READS_PER_POOL, maxLength: READS_PER_POOL }),
});

describe.each(MARKETS)('%s', (_name, variant, mark) => {
  const market = startedWorld(() => openGuardedMarket(variant));
  const seen = { amounts: 0, cut: 0, closed: 0, whole: 0, contradicted: 0 };

  test('every amount inside a side fills', async () => {
    const property = fc.asyncProperty(story, async (example) => {
      const pool = await market.make(example.spec);
      const { price, drawdownE6 } = example.spec;
      const priceAt = (hundredths: number) => price * (1 + (hundredths * drawdownE6) / 1e8);
      for (const { zeroForOne, partE3, move } of example.trades) {
        await pool.movePrice(priceAt(move));
        await tradePart(pool, zeroForOne, partE3);
      }
      for (const { move, watermarks, seed } of example.reads) {
        await pool.movePrice(priceAt(move));
        for (const [index, bin] of watermarks ? pool.bins.entries() : []) {
          const partsE6 = 1_000_000 + Math.round(((watermarks?.[index] ?? 0) * drawdownE6) / 100);
          await scaleWatermarks(market.chain, pool.stopLoss, pool.address, bin, partsE6);
        }
        expect(await rejectedAmounts(pool, seededRandom(seed))).toEqual([]);
      }
    });
    const hasSeenEnough = () =>
      seen.amounts > POOLS * AMOUNTS_PER_POOL && Math.min(seen.cut, seen.closed, seen.whole) >= POOLS;
    // A pool of some seeds has few amounts.
    await assertUntil(hasSeenEnough, property, { numRuns: POOLS, endOnFailure: true });
    expect(seen.contradicted).toBeLessThanOrEqual(seen.cut / 100);
  }, 600_000);

  /** Bids and asks of the pool's quote, or of the pool as if it had no extension. */
  async function sidesOf(address: Address, guard: 'stopLoss' | null) {
    const { chain, deployment, layout } = market;
    const served = await servedPool(chain, deployment, address, mark, layout);
    const api = quoteApi({
      chain: chainConfig(chain.chainId, [chain.rpcUrl]),
      directory: fixedDirectory([guard ? served : { ...served, extensions: [] }]),
      countDisagreement: () => {
        seen.contradicted += 1;
      },
    });
    const { bidAdj, askAdj, depth } = await api.quote(address);
    return [
      { zeroForOne: true, isClosed: bidAdj === '0', levels: tradingLevels(depth?.bids ?? []) },
      { zeroForOne: false, isClosed: askAdj === CLOSED_ASK, levels: tradingLevels(depth?.asks ?? []) },
    ];
  }

  /** What the pool would offer without its stop loss, whose code objects to nothing meanwhile. */
  async function withoutGuard({ address, stopLoss }: GuardedPool) {
    const { client } = market.chain;
    const bytecode = (await client.getCode({ address: stopLoss })) ?? '0x';
    await client.setCode({ address: stopLoss, bytecode: '0x00' });
    try {
      return await sidesOf(address, null);
    } finally {
      await client.setCode({ address: stopLoss, bytecode });
    }
  }

  async function tradePart(pool: GuardedPool, zeroForOne: boolean, partE3: number): Promise<void> {
    const [bids, asks] = await withoutGuard(pool);
    const last = (zeroForOne ? bids : asks)?.levels.at(-1);
    const output = last ? amountsOf(last).output : 0n;
    await pool.trade({ zeroForOne, amountSpecified: -(output * BigInt(partE3)) / 1_000n });
  }

  async function rejectedAmounts(pool: GuardedPool, random: Random): Promise<string[]> {
    const whole = await withoutGuard(pool);
    const sides = await sidesOf(pool.address, 'stopLoss');
    const orders = sides.flatMap(({ zeroForOne, isClosed, levels }, index) => {
      const end = whole[index]?.levels.at(-1);
      const isWhole = end?.cumulativeInputVolume === (levels.at(-1)?.cumulativeInputVolume ?? '0');
      seen[isClosed ? 'closed' : isWhole ? 'whole' : 'cut'] += 1;
      if (levels.length === 0) return [];
      const drawn = Array.from({ length: DRAWN_PER_SIDE }, () => drawAmount(levels, random));
      return drawn.filter((amount) => amount !== 0n).map((amountSpecified) => ({ zeroForOne, amountSpecified }));
    });
    seen.amounts += orders.length;
    const fills = await pool.simulate(orders);
    return orders.flatMap(({ zeroForOne, amountSpecified }, index) => {
      const fill = fills[index];
      const isFilled = amountSpecified < 0n ? fill?.amountOut === -amountSpecified : takes(fill, amountSpecified);
      return isFilled ? [] : [`${zeroForOne ? 'bids' : 'asks'}: ${amountSpecified}`];
    });
  }
});

/** Whether a pool takes an input but for what measured fees are shown higher by. */
const takes = (fill: SwapAmounts | null | undefined, input: bigint): boolean =>
  fill !== null && fill !== undefined && fill.amountIn >= input - 2n - input / 1_000_000_000_000n;

/** An amount within a level, or within the last millionth of it; negative for an output. */
function drawAmount(levels: readonly Level[], random: Random): bigint {
  const index = random.integer(0, levels.length - 1);
  const isInput = random.chance(50);
  const upTo = (which: number): bigint => {
    const level = levels[which];
    return level ? amountsOf(level)[isInput ? 'input' : 'output'] : 0n;
  };
  const [start, end] = [upTo(index - 1), upTo(index)];
  const width = random.chance(50) ? (end - start) / 1_000_000n : end - start - 1n;
  const amount = end - (width * BigInt(random.integer(0, 999_999_999))) / 1_000_000_000n;
  return isInput ? amount : -amount;
}
