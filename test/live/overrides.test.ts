import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { createPublicClient, http, type PublicClient } from 'viem';
import { beforeAll, expect, test, vi } from 'vitest';
import type { z } from 'zod';
import type { RoutePlan } from '../../api/route/route-response.ts';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import { type Random, seededRandom } from '../../devnet/traffic/random.ts';
import { startedWorld } from '../harness/open-world.ts';
import { type Batch, type LiveQuote, startLiveWorld, updateAll, waitForUpdates } from './live-world.ts';
import { randomInput } from './random-input.ts';
import { type Overrides, swapAtHead, type ViemSwap } from './viem-swap.ts';

/*
 * The promise of `include=stateOverride`: an `eth_call` at the head with these overrides, by a client that has nothing
 * else of ours, gives what is quoted in the block that is being built.
 */

/** Sets of overrides that are tried. `LIVE_OVERRIDES=2000` tries more. */
const SETS = Number(process.env.LIVE_OVERRIDES ?? 200);
const SEED = fc.readConfigureGlobal().seed ?? 0;
/** Percent of rounds that end with a block, so that the head has an older price, or none. */
const WITH_BLOCK = 50;
/** Of the quoted amount, inverse: a bin is 1% wide, and inside of it volume is interpolated. */
const MAX_BETTER = 100n;
/** Raw units. Smaller amounts are the same at many prices, so that they do not show whether overrides were applied. */
const SMALL = 1_000_000n;

type Plan = z.infer<typeof RoutePlan>;

interface Sample extends ViemSwap {
  readonly from: 'single' | 'batch' | 'route';
  readonly pool: LivePool;
  readonly quoted: bigint;
  /** Whether the amount is the end of a level. */
  readonly isEnd: boolean;
  readonly overrides: Overrides;
}

const world = startedWorld(() => startLiveWorld({ flatPools: 6, packedPools: 6 }));
let node: PublicClient;
beforeAll(() => {
  node = createPublicClient({ transport: http(world.market.chain.rpcUrl) });
});

const poolAt = (address: string): LivePool => {
  const pool = world.market.pools.find((it) => it.address === address);
  if (!pool) throw new Error(`there is no pool ${address}`);
  return pool;
};

async function ask<T>(path: string, body?: object): Promise<T> {
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  const { status, text } = await world.api.request(`/public/v1/evm/31337/${path}`, body && init);
  if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`);
  return JSON.parse(text) as T;
}

const single = (address: string, query: string) => ask<LiveQuote>(`${address}/bid_ask?include=stateOverride${query}`);

function sampleOf(from: 'single' | 'batch', quote: LiveQuote, overrides: Batch['overrides'], random: Random): Sample[] {
  const { kind, targetBlockNumber, targetTimestamp } = quote.basis ?? {};
  expect([kind, overrides?.blockOverrides]).toEqual([
    'live',
    { number: hex(targetBlockNumber), time: hex(targetTimestamp) },
  ]);
  const zeroForOne = random.chance(50);
  const input = randomInput((zeroForOne ? quote.depth?.bids : quote.depth?.asks) ?? [], random);
  if (!overrides || !input) return [];
  return [{ from, pool: poolAt(quote.poolAddress), zeroForOne, overrides, ...input }];
}

const hex = (value: number | null | undefined) => `0x${value?.toString(16)}`;

/** The legs of a plan for what a pool takes: of this pool alone, or of as many as the plan likes. */
async function routeSamples({ pool, zeroForOne, amountIn }: Sample, random: Random): Promise<Sample[]> {
  const { token0, token1 } = world.market;
  const [tokenIn, tokenOut] = zeroForOne ? [token0, token1] : [token1, token0];
  const order = { tokenIn, tokenOut, amountIn: String(amountIn), include: 'stateOverride' };
  const { overrides, routes } = await ask<Plan>('route', {
    ...order,
    ...(random.chance(50) && { poolAddress: pool.address }),
  });
  if (!overrides) throw new Error('a plan has no overrides');
  return routes.flatMap(({ legs }) =>
    legs.map((leg) => ({
      from: 'route' as const,
      pool: poolAt(leg.poolAddress),
      zeroForOne: leg.zeroForOne,
      amountIn: BigInt(leg.amountIn),
      quoted: BigInt(leg.amountOut),
      isEnd: false,
      overrides,
    })),
  );
}

/** Quotes all pools with new prices, and tries the overrides of each quote. @returns how many sets it tried */
async function tryOnce(random: Random): Promise<number> {
  const { market } = world;
  // Prices are even at every second block, so that the head never has one of them.
  const updates = await updateAll(market, () => 2n * BigInt(random.integer(95, 104)) + BigInt(blocks % 2));
  const { results, overrides } = await waitForUpdates(world, updates);
  const quotes = results.map((result) => ('quote' in result ? result.quote : expect.fail(result.error.error)));
  const samples = quotes.flatMap((quote) => sampleOf('batch', quote, overrides, random));
  for (const { poolAddress } of quotes.filter(() => random.chance(25))) {
    const quote = await single(poolAddress, '');
    samples.push(...sampleOf('single', quote, quote.overrides, random));
  }
  for (const sample of samples.filter(() => random.chance(25))) samples.push(...(await routeSamples(sample, random)));
  for (const sample of samples) {
    const amounts = await swapAtHead(node, sample, sample.overrides);
    record(sample, amounts);
    if (sample.amountIn < SMALL) continue;
    if (isDeepStrictEqual(amounts, await swapAtHead(node, sample))) seen.withoutOverrides += 1;
  }
  if (!random.chance(WITH_BLOCK)) return samples.length;
  blocks += 1;
  const trades = samples.filter(({ from }) => from === 'batch');
  await market.builder.buildBlock({
    trades: trades.map(({ pool, zeroForOne, amountIn }) =>
      market.trade(pool, { zeroForOne, amountSpecified: amountIn }),
    ),
  });
  return samples.length;
}

let blocks = 0;
const seen = { rejected: 0, worse: 0, unequalEnds: 0, muchBetter: 0, withoutOverrides: 0 };
const NONE = { rejected: 0, worse: 0, unequalEnds: 0, muchBetter: 0, withoutOverrides: 0 };
const tried = { single: 0, batch: 0, route: 0, ends: 0, flat: 0, packed: 0, none: 0, stopLoss: 0, velocity: 0 };

/** Ends of levels are exact. Inside, the contract may round down once more than the quote: by a raw unit. */
function record(
  { from, pool, amountIn, isEnd, quoted }: Sample,
  amounts: Awaited<ReturnType<typeof swapAtHead>>,
): void {
  for (const of of [from, pool.layout, pool.guard, ...(isEnd ? (['ends'] as const) : [])]) tried[of] += 1;
  const { input, output } = amounts ?? { input: 0n, output: 0n };
  if (input !== amountIn) seen.rejected += 1;
  else if (output < quoted - 1n) seen.worse += 1;
  else if (isEnd && output !== quoted) seen.unequalEnds += 1;
  else if (output - quoted > quoted / MAX_BETTER) seen.muchBetter += 1;
}

test(`${SETS} sets of overrides reproduce live quotes (PROPERTY_SEED=${SEED})`, { timeout: 3_600_000 }, async () => {
  const random = seededRandom(SEED);
  for (let sets = 0; sets < SETS; ) sets += await tryOnce(random);
  expect(seen).toEqual(NONE);
  for (const [of, times] of Object.entries(tried)) expect(times, of).toBeGreaterThan(0);
});

test('committed quotes and plans have no overrides: a call at the head sees what they saw', async () => {
  const { market } = world;
  const updates = await updateAll(market, () => 200n);
  await waitForUpdates(world, updates);
  market.builder.setLanding('every');
  const { number } = await market.builder.buildBlock();
  const { quote } = await vi.waitFor(async () => {
    const { results, overrides } = await world.batch({ basis: 'committed', include: 'stateOverride' });
    const first = results[0] as { readonly quote: LiveQuote };
    const basis = { kind: 'committed', blockNumber: Number(number), targetBlockNumber: null };
    expect([first.quote, overrides]).toMatchObject([{ priceProviderStatus: 'healthy', basis }, null]);
    return first;
  });
  expect(await single(quote.poolAddress, '&basis=committed')).toMatchObject({ overrides: null });
  const { token0, token1 } = market;
  const order = { tokenIn: token0, tokenOut: token1, amountIn: '1000000000', include: 'stateOverride' };
  expect(await ask<Plan>('route', { ...order, basis: 'committed' })).toMatchObject({ overrides: null });
  // No pool has a live price in the next block yet.
  expect((await world.batch({ include: 'stateOverride' })).overrides).toBeNull();
  expect(await ask<LiveQuote>(`${quote.poolAddress}/bid_ask`)).not.toHaveProperty('overrides');
});
