import fc from 'fast-check';
import type { Address } from 'viem';
import { expect, test } from 'vitest';
import { swap } from '../../devnet/actions.ts';
import { deployContract } from '../../devnet/deploy.ts';
import { RevertedError } from '../../devnet/dev-chain.ts';
import { evenBins, stopLossExtension } from '../../devnet/pools.ts';
import { SMALLEST_SWAP } from '../../protocol/curve.ts';
import type { StopLossMark } from '../../protocol/stop-loss/stop-loss.ts';
import { assertUntil } from '../harness/assert-until.ts';
import { runs } from '../harness/property-seed.ts';
import { amountsOf, type Level } from './chain-curve.ts';
import { executesAtBlock, executesOnSnapshot } from './execute-on-snapshot.ts';
import { type QuoteApi, quoteApi } from './quote-api.ts';
import { chainConfig, makePool, movePrice, type Pair, quoteWorld, type WorldPool } from './quote-world.ts';
import { fixedDirectory, servedPool } from './served-pool.ts';

/*
 * The promise of depth: every amount that gives at least one unit, up to the last level's pair, fills at its block.
 * Amounts are executed as transactions on the chain that the quote was read from, and the chain is put back after each.
 */

type Pool = WorldPool & { readonly mark: StopLossMark; readonly stopLoss: Address };

const RUNS = runs(2);

const seen = { amounts: 0, cuts: 0, reads: 0, mismatches: 0 };
const CLOSED_ASK = ((1n << 128n) - 1n).toString();

const world = quoteWorld(async (on) => ({
  bidAskStopLoss: await deployContract(on.chain, 'StopLossBidAsk', [on.deployment.poolFactory]),
  pairs: [await on.pair(18, 6), await on.pair(18, 18), await on.pair(6, 8)],
}));

interface Side {
  readonly zeroForOne: boolean;
  readonly isClosed: boolean;
  readonly levels: readonly Level[];
}

/** Bids and asks of a pool's quote; without its guards, what it would offer if nothing held it back. */
async function sidesOf(
  { address, mark, stopLoss }: Pool,
  guards: 'guarded' | 'unguarded' = 'guarded',
): Promise<Side[]> {
  const { chain, deployment } = world;
  const served = await servedPool(chain, { ...deployment, stopLoss }, address, mark);
  const api: QuoteApi = quoteApi({
    chain: chainConfig(chain.chainId, [chain.rpcUrl]),
    directory: fixedDirectory([guards === 'guarded' ? served : { ...served, extensions: [] }]),
    countDisagreement: () => {
      seen.mismatches += 1;
    },
  });
  const { bidAdj, askAdj, depth } = await api.quote(address);
  seen.reads += 1;
  return [
    { zeroForOne: true, isClosed: bidAdj === '0', levels: depth?.bids ?? [] },
    { zeroForOne: false, isClosed: askAdj === CLOSED_ASK, levels: depth?.asks ?? [] },
  ];
}

const lastPair = (levels: readonly Level[]) => {
  const last = levels.at(-1);
  return last ? amountsOf(last) : { input: 0n, output: 0n };
};

/** Inputs, and outputs as negative amounts, inside a side: random ones, one unit, and the pairs of its last levels. */
function amountsInside(levels: readonly Level[], parts: readonly number[]): bigint[] {
  const { input, output } = lastPair(levels);
  const shown = levels.slice(-3).map(amountsOf);
  const within = (total: bigint, pairs: readonly bigint[]) => {
    const inside = parts.map((part) => (total * BigInt(Math.floor(part * 1e9))) / 1_000_000_000n);
    return [...new Set([1n, ...inside, ...pairs])].filter((amount) => amount > 0n && amount <= total);
  };
  const inputs = within(
    input,
    shown.map((pair) => pair.input),
  );
  const outputs = within(
    output,
    shown.map((pair) => pair.output),
  );
  return [...inputs, ...outputs.map((amount) => -amount)];
}

/** Every promise that a quote of the pool makes now and that the chain does not keep. */
async function brokenPromises(pool: Pool, parts: readonly number[]): Promise<string[]> {
  const broken: string[] = [];
  const unguarded = await sidesOf(pool, 'unguarded');
  for (const [index, side] of (await sidesOf(pool)).entries()) {
    const order = (amountSpecified: bigint) => ({ pool: pool.address, zeroForOne: side.zeroForOne, amountSpecified });
    const name = side.zeroForOne ? 'bids' : 'asks';
    for (const amount of amountsInside(side.levels, parts)) {
      seen.amounts += 1;
      if (!(await executesOnSnapshot(world, order(amount)))) broken.push(`${name}: ${amount} is refused`);
    }
    const beyond = side.isClosed ? SMALLEST_SWAP : justBeyond(side.levels, unguarded[index]?.levels ?? []);
    if (beyond === null) continue;
    seen.cuts += 1;
    if (await executesAtBlock(world, order(beyond))) broken.push(`${name}: ${beyond} beyond the end fills`);
  }
  return broken;
}

/**
 * Two millionths of its bin and a unit beyond a side that ends before the liquidity does; null for one that does not.
 */
function justBeyond(levels: readonly Level[], whole: readonly Level[]): bigint | null {
  const { input } = lastPair(levels);
  const bin = whole.findIndex((level) => amountsOf(level).input > input);
  const next = whole[bin];
  if (!next) return null;
  const before = whole[bin - 1];
  const binInput = amountsOf(next).input - (before ? amountsOf(before).input : 0n);
  return input + (2n * binInput) / 1_000_000n + 2n;
}

/** Trades that may be refused: the guards are at work while the pool gets its watermarks. */
async function tradeIfAllowed(pool: Pool, zeroForOne: boolean, part: number): Promise<void> {
  const { chain, deployment } = world;
  const [bids, asks] = await sidesOf(pool, 'unguarded');
  const { output } = lastPair((zeroForOne ? bids : asks)?.levels ?? []);
  const amountSpecified = -((output * BigInt(Math.floor(part * 1e6))) / 1_000_000n);
  if (amountSpecified === 0n) return;
  await swap(chain, deployment, { pool: pool.address, zeroForOne, amountSpecified }).catch((error: unknown) => {
    if (!(error instanceof RevertedError)) throw error;
  });
}

const part = fc.integer({ min: 1, max: 1_000 }).map((thousandths) => thousandths / 1_000);
const recipe = fc.record({
  pair: fc.nat({ max: 2 }),
  mark: fc.constantFrom<StopLossMark>('mean', 'bidAsk'),
  price: fc.constantFrom(0.004, 1.5, 2_000, 60_000),
  bins: fc.record({ below: fc.integer({ min: 1, max: 7 }), above: fc.integer({ min: 1, max: 7 }) }),
  lengthE6: fc.integer({ min: 100, max: 4_000 }),
  notionalFeeE8: fc.constantFrom(0, 3_000),
  drawdownE6: fc.integer({ min: 500, max: 50_000 }),
  decayPerSecondE8: fc.constantFrom(0, 2),
  // Trades, each at a price of its own: they leave watermarks behind.
  history: fc.array(fc.record({ zeroForOne: fc.boolean(), part, moveE6: fc.integer({ min: -8_000, max: 8_000 }) }), {
    minLength: 2,
    maxLength: 5,
  }),
  // Feed moves, in thousandths of the drawdown, at which the quote is tried.
  moves: fc.array(fc.oneof(fc.integer({ min: -1_100, max: -700 }), fc.integer({ min: 700, max: 1_100 })), {
    minLength: 6,
    maxLength: 6,
  }),
  parts: fc.array(part, { minLength: 5, maxLength: 5 }),
});
type Recipe = typeof recipe extends fc.Arbitrary<infer T> ? T : never;

async function makeRecipe({
  pair,
  mark,
  price,
  bins,
  lengthE6,
  notionalFeeE8,
  history,
  ...guard
}: Recipe): Promise<Pool> {
  const stopLoss = mark === 'bidAsk' ? world.bidAskStopLoss : world.deployment.stopLoss;
  const settings = { drawdownE6: guard.drawdownE6, decayPerSecondE8: guard.decayPerSecondE8, timelockSecs: 100 };
  const made = await makePool(world, {
    pair: world.pairs[pair] as Pair,
    price,
    notionalFeeE8,
    bins: evenBins(-bins.below, bins.above, lengthE6),
    extensions: [stopLossExtension({ ...world.deployment, stopLoss }, settings)],
  });
  const pool = { ...made, mark, stopLoss };
  let now = price;
  for (const { zeroForOne, part: size, moveE6 } of history) {
    await tradeIfAllowed(pool, zeroForOne, size);
    now *= 1 + moveE6 / 1e6;
    await movePrice(world, pool, now);
  }
  return pool;
}

test('random pools, trades, feed moves and watermarks: nothing inside a side is refused, and what is beyond is', async () => {
  // A seed may draw pools whose stop losses cut nothing.
  await assertUntil(
    () => seen.amounts > 134 * RUNS && seen.cuts > 1.4 * RUNS,
    fc.asyncProperty(recipe, async (pool) => {
      const made = await makeRecipe(pool);
      for (const move of pool.moves) {
        await movePrice(world, made, pool.price * (1 + (move * pool.drawdownE6) / 1e9));
        expect(await brokenPromises(made, pool.parts)).toEqual([]);
      }
    }),
    { numRuns: RUNS, endOnFailure: true },
  );
  expect(seen.mismatches).toBe(0);
}, 600_000);

test('a bin that gains value as it is traded through: a little of it is refused, all of it would pass', async () => {
  const { chain, deployment } = world;
  const settings = { drawdownE6: 50_000, decayPerSecondE8: 0, timelockSecs: 100 };
  const made = await makePool(world, {
    pair: world.pairs[0] as Pair,
    price: 2_000,
    bins: evenBins(-6, 5, 800),
    extensions: [stopLossExtension(deployment, settings)],
  });
  const pool: Pool = { ...made, mark: 'mean', stopLoss: deployment.stopLoss };
  const whole = 6n * 10n ** 18n;
  const sell = (percent: bigint) => ({
    pool: pool.address,
    zeroForOne: true,
    amountSpecified: (whole * percent) / 100n,
  });
  await swap(chain, deployment, { pool: pool.address, zeroForOne: false, amountSpecified: -(whole * 90n) / 100n });
  await swap(chain, deployment, sell(30n));
  await swap(chain, deployment, sell(20n));
  let holes = 0;
  for (const part of [0.9495, 0.9499, 0.9505]) {
    await movePrice(world, pool, 2_000 * part);
    expect(await brokenPromises(pool, [0.001, 0.01, 0.1, 0.5, 0.9])).toEqual([]);
    const [, asks] = await sidesOf(pool, 'unguarded');
    const all = { pool: pool.address, zeroForOne: false, amountSpecified: lastPair(asks?.levels ?? []).input };
    const some = { ...all, amountSpecified: all.amountSpecified / 3n };
    if ((await executesAtBlock(world, all)) && !(await executesAtBlock(world, some))) holes += 1;
  }
  expect(holes).toBeGreaterThan(0);
});
