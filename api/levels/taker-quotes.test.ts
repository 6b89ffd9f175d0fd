import fc from 'fast-check';
import type { Address } from 'viem';
import { describe, expect, test } from 'vitest';
import type { BlockRef } from '../../chain/read-context.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { DepthLevel } from '../../protocol/depth.ts';
import { maxBigint } from '../../protocol/fixed-point.ts';
import { ChainDepthEstimates } from '../../quoting/depth-estimates.ts';
import { PoolTable, type ServedPool } from '../../quoting/pools/pool-directory.ts';
import { flatPool, numberedAddress } from '../../quoting/pools/served-pool.fixture.ts';
import { pricedAt } from '../../quoting/snapshot.fixture.ts';
import { HeadReplacedError, SnapshotError } from '../../quoting/snapshot-error.ts';
import type { DepthSnapshot } from '../../quoting/types.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { type TakerOrder, TakerQuotes } from './taker-quotes.ts';

type Amounts = readonly (readonly [input: bigint, output: bigint])[];

const [TOKEN0, TOKEN1, OTHER] = [1, 2, 3].map(numberedAddress) as [Address, Address, Address];
const block = { number: 6n, hash: `0x${'06'.repeat(32)}`, timestamp: 84n, parents: [] } as unknown as BlockRef;
const ORDER: TakerOrder = { tokenIn: TOKEN0, tokenOut: TOKEN1, amountIn: 10n, venue: null };

const levelsOf = (amounts: Amounts): DepthLevel[] =>
  amounts.map(([cumulativeInput, cumulativeOutput], bin) => ({
    bin,
    priceX64: 1n,
    cumulativeInput,
    cumulativeOutput,
    priceImpactE6: 0n,
  }));

/** Quotes at a head of pools with these bids, each an error or its levels. */
function quotesOf(
  bids: readonly (Amounts | SnapshotError)[],
  at: BlockRef = block,
  routers: readonly Address[] = [],
  head: BlockRef = block,
) {
  const pools = bids.map((_, index) => flatPool(10 + index, { chainId: 7, router: routers[index] ?? null }));
  const table = new PoolTable(pools);
  const snapshots = new Map<Address, DepthSnapshot | SnapshotError>();
  const become = (index: number, of: Amounts | SnapshotError) => {
    const pool = pools[index] as ServedPool;
    const depth = of instanceof SnapshotError ? null : { bids: levelsOf(of), asks: [] };
    snapshots.set(pool.address, depth ? { ...pricedAt(1n, pool, at), depth, curve: null } : (of as SnapshotError));
  };
  for (const [index, of] of bids.entries()) become(index, of);
  const clock = { now: 0 };
  /** Pools whose next read joins a scheduled one that has no calls. */
  const waiting = new Set<Address>();
  const read: Address[][] = [];
  const requested: Address[] = [];
  const chain = {
    chainId: 7,
    blockTimeMs: 12_000,
    heads: { top: 6n, isPassed: false },
    estimates: new ChainDepthEstimates(() => 0),
  };
  const quotes = new TakerQuotes({
    chain: chain as never,
    directory: { table: async () => table },
    now: () => clock.now,
    stamp: async () => 1_000,
  });
  const state = {
    head: { block: head },
    signal: AbortSignal.timeout(60_000),
    quotes: {
      requested: {
        markRequested: (named: { address: Address }[]) => requested.push(...named.map((pool) => pool.address)),
      },
      snapshots: {
        depths: async (named: { address: Address }[]) => {
          read.push(named.map(({ address }) => address));
          const outcomeOf = (pool: Address) => (waiting.delete(pool) ? exhausted : snapshots.get(pool));
          return new Map(named.map(({ address }) => [address, outcomeOf(address)]));
        },
        isRead: () => true,
      },
    },
  };
  const ask = async (order: Partial<TakerOrder> = {}) => {
    const json = await (await quotes.prepare({ ...ORDER, ...order }, false))(state as never);
    return json === null ? null : (JSON.parse(json) as Record<string, unknown>);
  };
  return { ask, pools, heads: chain.heads, requested, read, become, waiting, clock };
}

const exhausted = new SnapshotError('timed_out', 'not its turn', { cause: new RpcFailure('exhausted', 'no calls') });
const lost = new SnapshotError('timed_out', 'no answer', { cause: new RpcFailure('timeout', 'no answer') });
const failure = new SnapshotError('read_failed', 'the node fails');
const closed = new SnapshotError('unavailable', 'no depth');

test('the pool that gives most is quoted, with all fields of builders', async () => {
  const { ask, pools, requested } = quotesOf([[[100n, 100n]], [[100n, 300n]], [[5n, 100n]]]);
  expect(await ask()).toEqual({
    blockNumber: 7,
    timestamp: 1_000_000_000,
    tokenIn: TOKEN0,
    tokenOut: TOKEN1,
    amountIn: '0xa',
    amountOut: '0x1e',
    pamm: pools[1]?.address,
    router: pools[1]?.address,
  });
  expect(requested).toEqual([pools[1]?.address]);
});

test('of a venue the pool is quoted, and no other is read', async () => {
  const { ask, pools, read } = quotesOf([[[100n, 500n]], [[100n, 300n]], [[100n, 100n]]]);
  const [first, , third] = pools.map(({ address }) => address);
  expect(await ask({ venue: third as Address })).toMatchObject({ pamm: third, router: third, amountOut: '0xa' });
  expect(await ask()).toMatchObject({ pamm: first, router: first });
  expect(read.map(({ length }) => length)).toEqual([1, 3]);
});

test('a router is what to call, and as a venue it stands for its best pool', async () => {
  const [one, other] = [numberedAddress(1_000), numberedAddress(1_001)];
  const bids: Amounts[] = [[[100n, 500n]], [[100n, 300n]], [[100n, 100n]], [[100n, 600n]]];
  const { ask, pools, read } = quotesOf(bids, block, [one, other, other]);
  expect(await ask()).toMatchObject({ pamm: pools[3]?.address, router: pools[3]?.address });
  expect(await ask({ venue: one })).toMatchObject({ pamm: pools[0]?.address, router: one, amountOut: '0x32' });
  expect(await ask({ venue: other })).toMatchObject({ pamm: pools[1]?.address, router: other, amountOut: '0x1e' });
  expect(read.slice(1)).toEqual([[pools[0]?.address], [pools[1], pools[2]].map((pool) => pool?.address)]);
  expect(await ask({ venue: pools[2]?.address ?? null })).toMatchObject({ pamm: pools[2]?.address, router: other });
  await expect(ask({ venue: other, tokenOut: OTHER })).rejects.toMatchObject({ code: 'no_route' });
});

test('pools of other routers take no places from those of a router', async () => {
  const [router, other] = [numberedAddress(1_000), numberedAddress(1_001)];
  const bids = Array.from({ length: 120 }, (_, index): Amounts => [[100n, index === 119 ? 1n : 1_000n]]);
  const last = Array.from({ length: 120 }, (_, index) => (index === 119 ? router : other));
  const { ask, pools } = quotesOf(bids, block, last);
  expect(await ask({ venue: router, amountIn: 100n })).toMatchObject({ pamm: pools[119]?.address, amountOut: '0x1' });
});

describe('without a quote, the error has a name:', () => {
  test.each([
    ['tokens without a pool', [[[100n, 100n]]], { tokenOut: OTHER }, 422, 'no_route'],
    ['a venue that is not known', [[[100n, 100n]]], { venue: OTHER }, 422, 'no_route'],
    ['a pool of other tokens', [[[100n, 100n]]], { venue: numberedAddress(10), tokenIn: OTHER }, 400, 'http_400'],
    ['too little depth', [[[9n, 9n]], []], {}, 422, 'insufficient_liquidity'],
    ['an output of less than a unit', [[[100n, 9n]]], {}, 422, 'insufficient_liquidity'],
    ['a pool that has no depth', [closed], {}, 422, 'insufficient_liquidity'],
    ['a pool that was not read', [[[9n, 9n]], failure], {}, 503, 'http_503'],
  ] as const)('%s', async (_name, bids, order, status, code) => {
    await expect(quotesOf(bids).ask(order)).rejects.toMatchObject({ status, code });
  });
});

test('a pool of which nothing is known hides no other, unless the chain advanced meanwhile', async () => {
  expect(await quotesOf([failure, [[100n, 100n]]]).ask()).toMatchObject({ amountOut: '0xa' });
  expect(await quotesOf([new HeadReplacedError(), [[100n, 100n]]]).ask()).toBeNull();
});

test('a pool that joined a scheduled read without calls is read for the quote', async () => {
  const { ask, pools, read, waiting } = quotesOf([[[100n, 100n]], [[100n, 300n]]]);
  const [one, other] = pools.map(({ address }) => address) as [Address, Address];
  waiting.add(other);
  expect(await ask()).toMatchObject({ pamm: other, amountOut: '0x1e' });
  expect(read).toEqual([[one, other], [other]]);
});

test('while nodes do not give a pool that gave more there is an error, then the quote of another pool', async () => {
  const { ask, pools, become, clock } = quotesOf([[[100n, 100n]], [[100n, 300n]], [[5n, 900n]]]);
  const [one, other] = pools.map(({ address }) => address);
  expect(await ask()).toMatchObject({ pamm: other });
  become(2, lost);
  // It gave less for all of the input.
  expect(await ask()).toMatchObject({ pamm: other });
  become(1, lost);
  await expect(ask()).rejects.toMatchObject({ status: 503, message: expect.stringContaining('may give more') });
  clock.now = 23_999;
  await expect(ask()).rejects.toMatchObject({ status: 503 });
  clock.now = 24_000;
  expect(await ask()).toMatchObject({ pamm: one, amountOut: '0xa' });
  become(1, [[100n, 300n]]);
  expect(await ask()).toMatchObject({ pamm: other });
  become(1, lost);
  await expect(ask()).rejects.toMatchObject({ status: 503 });
  become(0, [[100n, 400n]]);
  expect(await ask()).toMatchObject({ pamm: one, amountOut: '0x28' });
});

const pending = { blockNumber: 7n, timestamp: 96n, overrides: new Map(), digest: 'other', receivedAt: 0 };

test('a live quote of another state is read again', async () => {
  expect(await quotesOf([[[100n, 100n]]], { ...block, pending }).ask()).toBeNull();
});

test('a live quote is read again when another process has taken its block', async () => {
  const live = { ...block, pending };
  const { ask, heads } = quotesOf([[[100n, 100n]]], live, [], live);
  expect(await ask()).toMatchObject({ blockNumber: 7 });
  heads.isPassed = true;
  expect(await ask()).toBeNull();
});

test('no quote is above the line between two levels of its pool, and none is below that of another by a unit', async () => {
  const amounts = fc
    .array(fc.tuple(fc.bigInt(1n, 1_000n), fc.bigInt(1n, 1_000n)), { minLength: 1, maxLength: 6 })
    .map((steps) => {
      let [input, output] = [0n, 0n];
      return steps.map(([more, gives]) => {
        input += more;
        output += gives;
        return [input, output] as const;
      });
    });
  const property = fc.asyncProperty(
    fc.array(amounts, { minLength: 1, maxLength: 4 }),
    fc.bigInt(1n, 3_000n),
    async (bids, amountIn) => {
      // The line, by division of the whole step.
      const given = bids.map((levels) => {
        const index = levels.findIndex(([input]) => input >= amountIn);
        const [[startIn, startOut], end] = [levels[index - 1] ?? [0n, 0n], levels[index]];
        return end ? startOut + ((end[1] - startOut) * (amountIn - startIn)) / (end[0] - startIn) : 0n;
      });
      const most = given.reduce(maxBigint);
      const { ask, pools } = quotesOf(bids);
      if (most === 0n) {
        await expect(ask({ amountIn })).rejects.toMatchObject({ status: 422 });
        return;
      }
      const best = pools.filter((_, index) => given[index] === most).map(({ address }) => address);
      const quote = await ask({ amountIn });
      expect(quote).toMatchObject({ amountOut: `0x${most.toString(16)}` });
      expect(best).toContain(quote?.pamm);
    },
  );
  await fc.assert(property, { numRuns: runs(300) });
});
