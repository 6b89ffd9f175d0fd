import fc from 'fast-check';
import { expect, test } from 'vitest';
import { assertUntil } from '../../../test/harness/assert-until.ts';
import { runs } from '../../../test/harness/property-seed.ts';
import { computeSwap } from '../../../test/protocol/flat-swap.ts';
import type { BidAsk } from '../../curve.ts';
import { isqrtFloor, Q64 } from '../../fixed-point.ts';
import { binAt, MAX_POSITION, type PoolState } from '../../pool-state.ts';
import type { StopLossMark, StopLossState, WatchedBin } from '../../stop-loss/stop-loss.ts';
import { levelsWithin } from '../side-amounts.ts';
import type { SideCurve } from '../side-curve.ts';
import { stopLossLimit } from '../stop-loss-limit.ts';
import { pricePool, sideCurve } from './geometry.ts';
import { poolState, tradableQuote } from './pool-state.fixture.ts';

const E18 = 10n ** 18n;

type Balances = readonly [token0: bigint, token1: bigint];
/** A release of the extension: values per share in token0 and in token1, with its own roundings. */
type Metrics = (balances: Balances, shares: bigint, quote: BidAsk) => Balances;

/** Value first, then divided by shares, at one price. */
const valueFirst =
  (price: (quote: BidAsk) => bigint, scale: bigint): Metrics =>
  ([token0, token1], shares, quote) => {
    const mark = price(quote);
    const value0 = token0 + (token1 * Q64) / mark;
    const value1 = token1 + (token0 * mark) / Q64;
    return [(value0 * scale) / shares, (value1 * scale) / shares];
  };

/** Each token divided by shares, then converted: token1 at the bid, token0 at the ask. */
const sharesFirst =
  (scale: bigint): Metrics =>
  ([token0, token1], shares, { bidX64, askX64 }) => {
    const [per0, per1] = [(token0 * scale) / shares, (token1 * scale) / shares];
    return [per0 + (per1 * Q64) / bidX64, (per0 * askX64) / Q64 + per1];
  };

const RELEASES: readonly { readonly mark: StopLossMark; readonly metrics: Metrics; readonly isFine: boolean }[] = [
  { mark: 'mid', metrics: valueFirst(({ bidX64, askX64 }) => isqrtFloor(bidX64 * askX64), E18), isFine: true },
  { mark: 'mean', metrics: valueFirst(({ bidX64, askX64 }) => (bidX64 + askX64) / 2n, 10n ** 6n), isFine: false },
  { mark: 'bidAsk', metrics: sharesFirst(E18), isFine: true },
  { mark: 'bidAsk', metrics: sharesFirst(10n ** 6n), isFine: false },
];

const anyNearness = fc.integer({ min: -3_000, max: 2_000 });
// Where a bin's price crosses the mark its value dips by a few millionths: a floor close below the start meets it.
const dippingNearness = fc.oneof(anyNearness, fc.integer({ min: -100, max: 0 }));
const guardedPoolOf = (
  state: fc.Arbitrary<PoolState>,
  releases: readonly (typeof RELEASES)[number][],
  nearness: fc.Arbitrary<number>,
) =>
  fc
    .record({
      state,
      quote: tradableQuote,
      release: fc.constantFrom(...releases),
      zeroForOne: fc.boolean(),
      drawdownE6: fc.integer({ min: 1, max: 60_000 }),
      decayE8: fc.integer({ min: 0, max: 200 }),
      age: fc.integer({ min: 0, max: 50_000 }),
      // Per bin: shares, and how far above its value now each watermark's floor stands, in millionths.
      bins: fc.array(
        fc.record({ sharesBits: fc.integer({ min: 0, max: 80 }), nearness: fc.tuple(nearness, nearness) }),
        { minLength: 12, maxLength: 12 },
      ),
    })
    .map(({ state, quote, release, zeroForOne, drawdownE6, decayE8, age, bins }) => {
      const lost = BigInt(decayE8 * age);
      const left = lost >= 10n ** 8n ? 0n : 10n ** 8n - lost;
      const watched = state.bins.flatMap((content, index): [number, WatchedBin][] => {
        const { sharesBits = 0, nearness = [0, 0] } = bins[index] ?? {};
        if (sharesBits === 0) return [];
        const shares = 1n << BigInt(sharesBits);
        const now = release.metrics([content.token0Scaled, content.token1Scaled], shares, quote);
        // A watermark whose decayed floor lies close to the value of the bin now, so that trades cross it.
        const [token0 = 0n, token1 = 0n] = now.map((value, side) => {
          const floor = (value * BigInt(1_000_000 + (nearness[side] ?? 0))) / 1_000_000n;
          return left === 0n ? 0n : (floor * 1_000_000n * 10n ** 8n) / (BigInt(1_000_000 - drawdownE6) * left);
        });
        const watermarks = { token0, token1, updatedAt: BigInt(1_000_000 - age) };
        return [[state.lowestBin + index, { shares, watermarks }]];
      });
      const stopLoss: StopLossState = {
        drawdownE6,
        decayPerSecond: BigInt(decayE8),
        decayScale: 10n ** 8n,
        timestamp: 1_000_000n,
        bins: new Map(watched),
      };
      return { priced: pricePool(state, quote), quote, release, zeroForOne, stopLoss };
    });

const anyPool = guardedPoolOf(poolState, RELEASES, dippingNearness);
type GuardedPool = typeof anyPool extends fc.Arbitrary<infer T> ? T : never;
/** Bins worth something: dust is too coarse for any refusal to be certain. */
const realPool = guardedPoolOf(
  poolState.map((state) => ({
    ...state,
    bins: state.bins.map((bin) => ({
      ...bin,
      token0Scaled: bin.token0Scaled && bin.token0Scaled + 10n ** 22n,
      token1Scaled: bin.token1Scaled && bin.token1Scaled + 10n ** 22n,
    })),
  })),
  RELEASES.filter(({ isFine }) => isFine),
  anyNearness,
);

/**
 * Whether the extension refuses a swap, transcribed from what the contract does: bin by bin, as the swap leaves them.
 */
function refuses(
  { priced, quote, release, zeroForOne, stopLoss }: GuardedPool,
  kind: 'exactInput' | 'exactOutput',
  amount: bigint,
  decayed: (watermark: bigint, lost: bigint) => bigint,
): boolean {
  const { state } = priced;
  const swap = computeSwap(priced, { zeroForOne, kind, amount });
  const [low, high] = [Math.min(state.cursor.bin, swap.bin), Math.max(state.cursor.bin, swap.bin)];
  for (const [bin, { shares, watermarks }] of stopLoss.bins) {
    if (bin < low || bin > high) continue;
    const fill = swap.fills.find((each) => each.bin === bin);
    const fee = fill ? fill.input - fill.net : 0n;
    const added = fill ? fill.net + fee - (fee * BigInt(state.spreadFeeE6)) / 1_000_000n : 0n;
    const { token0Scaled, token1Scaled } = binAt(state, bin);
    const balances: Balances = zeroForOne
      ? [token0Scaled + added, token1Scaled - (fill?.output ?? 0n)]
      : [token0Scaled - (fill?.output ?? 0n), token1Scaled + added];
    const [metric0, metric1] = release.metrics(balances, shares, quote);
    const lost = stopLoss.decayPerSecond * (stopLoss.timestamp - watermarks.updatedAt);
    const highest = decayed(zeroForOne ? watermarks.token0 : watermarks.token1, lost);
    const metric = zeroForOne ? metric0 : metric1;
    if (metric < (highest * BigInt(1_000_000 - stopLoss.drawdownE6)) / 1_000_000n) return true;
  }
  return false;
}

const E8 = 10n ** 8n;
const DECAYS = [
  (mark: bigint, lost: bigint) => (lost >= E8 ? 0n : (mark * (E8 - lost)) / E8),
  (mark: bigint, lost: bigint) => (lost >= E8 ? 0n : mark - (mark * lost) / E8),
] as const;

const levelsOf = (side: SideCurve, limit: ReturnType<typeof stopLossLimit>) =>
  limit ? levelsWithin(side, limit.most, limit.level) : side.levels;

const limitsOf = (pool: GuardedPool) => {
  const side = sideCurve(pool.priced, pool.zeroForOne);
  const limit = stopLossLimit(side, pool.release.mark, pool.stopLoss);
  const last = levelsOf(side, limit).at(-1);
  return { side, limit, input: last?.cumulativeInput ?? 0n };
};

const PARTS = [3n, 20n, 45n, 55n, 80n];

test('every amount inside the limit is accepted by every release, as input and as output', async () => {
  const seen = { cut: 0, closed: 0, open: 0 };
  await assertUntil(
    () => Math.min(...Object.values(seen)) > runs(20),
    fc.property(anyPool, (pool) => {
      const { side, limit, input } = limitsOf(pool);
      seen[limit === null ? 'open' : limit.most === 0n ? 'closed' : 'cut'] += 1;
      if (limit) expect(input <= limit.most).toBe(true);
      if (limit?.most === 0n) return;
      const shown = levelsOf(side, limit);
      for (const amount of amountsWithin(shown.map(({ cumulativeInput }) => cumulativeInput))) {
        for (const decayed of DECAYS) expect(refuses(pool, 'exactInput', amount, decayed)).toBe(false);
      }
      for (const amount of amountsWithin(shown.map(({ cumulativeOutput }) => cumulativeOutput))) {
        for (const decayed of DECAYS) expect(refuses(pool, 'exactOutput', amount, decayed)).toBe(false);
      }
    }),
    { numRuns: runs(400) },
  );
});

test('a bin whose value falls below the floor only where it is empty is not offered whole', () => {
  const quote = { bidX64: 17179869167n, askX64: 17179869201n, referenceX64: 17179869183n };
  const state: PoolState = {
    lowestBin: 0,
    highestBin: 0,
    scale: { multiplier0: 1n, multiplier1: E18 },
    pauseLevel: 0,
    cursor: { bin: 0, position: MAX_POSITION - 1n, lowerDistE6: 0 },
    spreadFeeE6: 0,
    notionalFeeE8: 1,
    bins: [{ lengthE6: 3, addFeeBuyE6: 0, addFeeSellE6: 0, token0Scaled: 0n, token1Scaled: 1n }],
  };
  // One unit of token1, worth 2^30 of token0; all of it is sold for 1.5 millionths less,
  // the floor is one millionth below.
  const watermarks = { token0: 2n ** 29n * E18, token1: 0n, updatedAt: 1_000_000n };
  const pool: GuardedPool = {
    priced: pricePool(state, quote),
    quote,
    release: {
      mark: 'mid',
      metrics: valueFirst(({ bidX64, askX64 }) => isqrtFloor(bidX64 * askX64), E18),
      isFine: true,
    },
    zeroForOne: true,
    stopLoss: {
      drawdownE6: 1,
      decayPerSecond: 0n,
      decayScale: E8,
      timestamp: 1_000_000n,
      bins: new Map([[0, { shares: 2n, watermarks }]]),
    },
  };
  const whole = sideCurve(pool.priced, true).levels.at(-1)?.cumulativeInput ?? 0n;
  expect(refuses(pool, 'exactInput', whole, DECAYS[0])).toBe(true);
  expect(limitsOf(pool).limit?.most).toBe(0n);
});

test('a reported rejection is one, and a closed side rejects its first unit', () => {
  fc.assert(
    fc.property(realPool, (pool) => {
      const { limit } = limitsOf(pool);
      if (!limit || limit.beyond === null) return;
      expect(limit.beyond > limit.most).toBe(true);
      for (const decayed of DECAYS) expect(refuses(pool, 'exactInput', limit.beyond, decayed)).toBe(true);
    }),
    { numRuns: runs(400) },
  );
  // How often one is reported is measured on the same pools in every run.
  const measured = fc.sample(realPool, { numRuns: 400, seed: 1 }).flatMap((pool) => limitsOf(pool).limit ?? []);
  const known = measured.filter(({ beyond }) => beyond !== null).length;
  expect(known).toBeGreaterThan(3 * (measured.length - known));
});

/** One unit, the ends of levels and a unit less, and points inside every level. */
function amountsWithin(ends: readonly bigint[]): bigint[] {
  const inside = ends.flatMap((end, index) => {
    const start = ends[index - 1] ?? 0n;
    return PARTS.map((part) => start + ((end - start) * part) / 100n);
  });
  const last = ends.at(-1) ?? 0n;
  const amounts = [1n, ...inside, ...ends, ...ends.map((end) => end - 1n)];
  return [...new Set(amounts)].filter((amount) => amount > 0n && amount <= last);
}
