import { beforeEach, describe, expect, it } from 'vitest';
import type { DepthLevel } from '../protocol/depth.ts';
import { choosePools } from '../protocol/routing/choose-pools.ts';
import type { TradeType } from '../protocol/routing/fill-curve.ts';
import { ChainDepthEstimates } from './depth-estimates.ts';
import { PoolTable, type ServedPool } from './pools/pool-directory.ts';
import { numberedAddress as address, flatPool, numberedToken as token } from './pools/served-pool.fixture.ts';
import { BlockTooOldError, SnapshotError } from './snapshot-error.ts';
import type { DepthSnapshot } from './types.ts';

/** Two pools of a pair in a direction. */
const MAX_READS = 8;
const pool = (number: number, [first, second] = [1, 2], layout = 'flat'): ServedPool =>
  flatPool(number, { token0: token(first), token1: token(second), layout });

const level = (cumulativeInput: bigint, cumulativeOutput: bigint): DepthLevel => ({
  bin: 0,
  priceX64: 0n,
  priceImpactE6: 0n,
  cumulativeInput,
  cumulativeOutput,
});

/** A snapshot with an amount of each side at even prices. */
const snapshot = (of: ServedPool, bids: bigint, asks: bigint, status: DepthSnapshot['status'] = 'healthy') =>
  ({
    pool: of,
    status,
    block: { number: 1n, hash: '0x00', timestamp: 1n },
    readAt: 1,
    bidX64: 0n,
    askX64: 0n,
    balance0Raw: null,
    balance1Raw: null,
    depth: { bids: bids ? [level(bids, bids)] : [], asks: asks ? [level(asks, asks)] : [] },
  }) satisfies DepthSnapshot;

let estimates: ChainDepthEstimates;
let nowMs: number;

beforeEach(() => {
  nowMs = 0;
  estimates = new ChainDepthEstimates(() => nowMs);
});

function observe(...shown: readonly (readonly [ServedPool, DepthSnapshot | SnapshotError])[]): void {
  estimates.observe(
    shown.map(([of]) => of),
    new Map(shown.map(([of, snapshot]) => [of.address, snapshot])),
  );
}

/** Numbers of the pools that an order of 100 reads. */
async function chosen(
  pools: readonly ServedPool[],
  from = 1,
  to = 2,
  tradeType: TradeType = 'exact_in',
): Promise<number[]> {
  const graph = new PoolTable(pools).graph(1);
  const order = { tokenIn: address(from), tokenOut: address(to), tradeType };
  const candidates = await estimates.candidatePaths(graph, order, MAX_READS);
  const paths = choosePools(candidates, { tradeType, amount: 100 }, MAX_READS);
  return paths.flatMap(({ legs }) => legs.flat().map(({ pool: one }) => Number(one.address))).sort((a, b) => a - b);
}

describe('a crowded pair', () => {
  const [a, b, c, d] = [pool(11), pool(12), pool(13), pool(14)];

  it('is read whole while it has no more pools than the limit', async () => {
    observe([a, snapshot(a, 0n, 0n)]);
    expect(await chosen([a, b])).toEqual([11, 12]);
  });

  it('is read where depth was seen, in the direction of the order', async () => {
    observe(
      [a, snapshot(a, 1n, 500n)],
      [b, snapshot(b, 500n, 1n)],
      [c, snapshot(c, 400n, 1n)],
      [d, snapshot(d, 1n, 400n)],
    );
    expect(await chosen([a, b, c, d])).toEqual([12, 13]);
    expect(await chosen([a, b, c, d], 2, 1)).toEqual([11, 14]);
    expect(await chosen([a, b, c, d], 2, 1, 'exact_out')).toEqual([11, 14]);
  });

  it('is read by records where nothing was seen yet, and where it was closed a record does not help', async () => {
    const side = { inputs: [1e6], outputs: [1e6] };
    const none = { inputs: [], outputs: [] };
    for (const pool of [a, c, d]) estimates.record(pool, { bids: side, asks: none, tierRank: 1 });
    observe([a, snapshot(a, 0n, 0n, 'pool_refused')]);
    expect(await chosen([a, b, c, d])).toEqual([13, 14]);
    for (const pool of [a, c, d]) estimates.record(pool, null);
    expect(await chosen([b, c, d])).toEqual([12, 13]);
  });

  it('is read by records again a minute after it was closed', async () => {
    const side = { inputs: [1e6], outputs: [1e6] };
    const announce = () => {
      for (const pool of [a, b, c]) estimates.record(pool, { bids: side, asks: side, tierRank: 1 });
    };
    announce();
    observe([a, snapshot(a, 0n, 0n, 'pool_refused')]);
    announce();
    expect(await chosen([a, b, c])).toEqual([12, 13]);
    nowMs = 61_000;
    observe([b, snapshot(b, 0n, 0n, 'pool_refused')]);
    announce();
    expect(await chosen([a, b, c])).toEqual([11, 13]);
  });

  it('is read by records again a minute after only the side of the order was closed', async () => {
    const side = { inputs: [1e6], outputs: [1e6] };
    const none = { inputs: [], outputs: [] };
    for (const pool of [a, c]) estimates.record(pool, { bids: side, asks: side, tierRank: 1 });
    estimates.record(b, { bids: none, asks: none, tierRank: 1 });
    observe([a, snapshot(a, 0n, 500n)], [b, snapshot(b, 0n, 0n)], [c, snapshot(c, 500n, 500n)]);
    expect(await chosen([a, b, c])).toEqual([13]);
    nowMs = 61_000;
    expect(await chosen([a, b, c])).toEqual([11, 13]);
    expect(estimates.describe(a, false)).toMatchObject({ isObserved: true, estimate: { outputs: [500] } });
  });

  it('is read a minute as it was seen, then by records, where only a live price may be', async () => {
    const side = { inputs: [1e6], outputs: [1e6] };
    const none = { inputs: [], outputs: [] };
    const down = (of: ServedPool) => ({ ...snapshot(of, 0n, 0n, 'feed_down'), hasSource: true });
    estimates.record(a, { bids: side, asks: none, tierRank: 1 });
    estimates.record(b, { bids: none, asks: none, tierRank: 1 });
    estimates.record(d, { bids: side, asks: none, tierRank: 1 });
    observe([a, snapshot(a, 500n, 0n)], [b, snapshot(b, 500n, 0n)], [c, snapshot(c, 400n, 0n)]);
    observe([a, down(a)], [b, down(b)]);
    expect(await chosen([a, b, c])).toEqual([11, 12]);
    nowMs = 50_000;
    observe([a, down(a)], [b, down(b)], [d, down(d)]);
    expect(estimates.describe(d, true)).toMatchObject({ isObserved: false, estimate: side });
    nowMs = 61_000;
    expect(await chosen([a, b, c])).toEqual([11, 13]);
    const pending = { blockNumber: 2n } as NonNullable<DepthSnapshot['block']['pending']>;
    observe([a, { ...down(a), block: { ...down(a).block, pending } }]);
    expect(await chosen([a, b, c])).toEqual([13]);
  });

  it('forgets nothing when a read fails for the sake of the chain', async () => {
    observe([a, snapshot(a, 500n, 0n)], [b, snapshot(b, 400n, 0n)], [c, snapshot(c, 300n, 0n)]);
    observe(
      [a, new SnapshotError('timed_out', 'late')],
      [b, new SnapshotError('unavailable', 'no depth')],
      [c, snapshot(c, 0n, 0n, 'internal_error')],
    );
    expect(await chosen([a, b, c])).toEqual([11, 13]);
    observe([a, new BlockTooOldError('nodes stand still')], [c, new BlockTooOldError('nodes stand still')]);
    expect(await chosen([a, b, c])).toEqual([11, 13]);
  });
});

it('an order that compares more pools gets them, also when one that compares fewer came before', async () => {
  const graph = new PoolTable([11, 12, 13, 14].map((number) => pool(number))).graph(1);
  const order = { tokenIn: address(1), tokenOut: address(2), tradeType: 'exact_in' } as const;
  const compared = async (most: number) => (await estimates.candidatePaths(graph, order, most))[0]?.legs[0].length;
  expect([await compared(2), await compared(4)]).toEqual([2, 4]);
});

describe('a pool whose fees are not public', () => {
  it('counts as five until it is known to be read cheaper', () => {
    const packed = pool(11, [1, 2], 'packed');
    const cost = (of: ServedPool) => estimates.describe(of, true).cost;
    expect(cost(packed)).toBe(5);
    estimates.report({ pool: packed.address, method: 'fit' });
    expect(cost(packed)).toBe(1);
    estimates.report({ pool: packed.address, method: 'simulation' });
    expect(cost(packed)).toBe(5);
    expect(cost(pool(12))).toBe(1);
  });
});

it('a request reads no more pools than its limit, via the intermediate tokens with depth in both legs', async () => {
  const vias = [3, 4, 5, 6].map((via) => [pool(10 * via, [1, via]), pool(10 * via + 1, [via, 2])] as const);
  for (const [first, second] of vias) observe([first, snapshot(first, 200n, 0n)], [second, snapshot(second, 200n, 0n)]);
  const [, , [thin], [, poor]] = vias as [never, never, readonly [ServedPool], readonly [never, ServedPool]];
  observe([thin, snapshot(thin, 1n, 0n)], [poor, snapshot(poor, 1n, 0n)]);
  const read = await chosen([pool(11), ...vias.flat()]);
  expect(read).toEqual(expect.arrayContaining([30, 31, 40, 41]));
  expect(read.length).toBeLessThanOrEqual(MAX_READS);
});
