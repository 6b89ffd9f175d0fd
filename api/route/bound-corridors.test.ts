import type { Address } from 'viem';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { DepthLevel } from '../../protocol/depth.ts';
import type { TradeType } from '../../protocol/routing/fill-curve.ts';
import { tokenScale } from '../../protocol/scaling.ts';
import { PoolTable, type ServedPool } from '../snapshots/pool-directory.ts';
import { type DepthSnapshot, SnapshotError } from '../snapshots/types.ts';
import { boundCorridors } from './bound-corridors.ts';
import { ChainOutlooks } from './pool-outlooks.ts';

const LIMITS = { maxPoolsPerPair: 2, maxPoolsPerRequest: 5, maxTokensSearched: 2_000 };
const address = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`;
const token = (number: number) => ({ address: address(number), symbol: `T${number}`, decimals: 18 });

function pool(number: number, tokens: readonly [number, number] = [1, 2], layout = 'flat'): ServedPool {
  return {
    chainId: 1,
    address: address(number),
    contractVersion: 'v1',
    layout,
    token0: token(tokens[0]),
    token1: token(tokens[1]),
    pair: 'A/B',
    immutables: { lowestBin: 0, highestBin: 0, scale: tokenScale(18, 18) },
    immutableProvider: null,
    extensions: [],
    stopLossMark: 'mean',
  };
}

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

let outlooks: ChainOutlooks;

beforeEach(() => {
  outlooks = new ChainOutlooks();
});

function see(...seen: readonly (readonly [ServedPool, DepthSnapshot | SnapshotError])[]): void {
  outlooks.see(
    seen.map(([of]) => of),
    new Map(seen.map(([of, shown]) => [of.address, shown])),
  );
}

/** Numbers of the pools that an order of 100 reads. */
function chosen(pools: readonly ServedPool[], from = 1, to = 2, tradeType: TradeType = 'exact_in'): number[] {
  const [tokenIn, tokenOut] = [address(from), address(to)];
  const graph = new PoolTable(pools).graph(1);
  const bound = boundCorridors(graph, { tokenIn, tokenOut, tradeType, given: 100n }, LIMITS, outlooks) ?? [];
  return bound.flatMap(({ legs }) => legs.flat().map((one) => Number(one.address))).sort((a, b) => a - b);
}

describe('a crowded pair', () => {
  const [a, b, c, d] = [pool(11), pool(12), pool(13), pool(14)];

  it('is read whole while it has no more pools than the limit', () => {
    see([a, snapshot(a, 0n, 0n)]);
    expect(chosen([a, b])).toEqual([11, 12]);
  });

  it('is read where depth was seen, in the direction of the order', () => {
    see([a, snapshot(a, 1n, 500n)], [b, snapshot(b, 500n, 1n)], [c, snapshot(c, 400n, 1n)], [d, snapshot(d, 1n, 400n)]);
    expect(chosen([a, b, c, d])).toEqual([12, 13]);
    expect(chosen([a, b, c, d], 2, 1)).toEqual([11, 14]);
    expect(chosen([a, b, c, d], 2, 1, 'exact_out')).toEqual([11, 14]);
  });

  it('is read by records where nothing was seen yet, and where it was closed a record does not help', () => {
    const side = { inputs: [1e6], outputs: [1e6] };
    const none = { inputs: [], outputs: [] };
    for (const of of [a, c, d]) outlooks.record(of, { bids: side, asks: none, tierRank: 1 });
    see([a, snapshot(a, 0n, 0n, 'pool_refused')]);
    expect(chosen([a, b, c, d])).toEqual([13, 14]);
    for (const of of [a, c, d]) outlooks.record(of, null);
    expect(chosen([b, c, d])).toEqual([12, 13]);
  });

  it('is read by records again a minute after it was closed', async () => {
    const side = { inputs: [1e6], outputs: [1e6] };
    const tell = () => {
      for (const of of [a, b, c]) outlooks.record(of, { bids: side, asks: side, tierRank: 1 });
    };
    tell();
    see([a, snapshot(a, 0n, 0n, 'pool_refused')]);
    tell();
    expect(chosen([a, b, c])).toEqual([12, 13]);
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 61_000);
    see([b, snapshot(b, 0n, 0n, 'pool_refused')]);
    const chosenAnew = () => {
      tell();
      return chosen([a, b, c]);
    };
    await expect.poll(chosenAnew).toEqual([11, 13]);
    clock.mockRestore();
  });

  it('is read where depth was seen of the pools that are remembered, those seen last', () => {
    const tell = () =>
      see(
        [a, snapshot(a, 500n, 0n)],
        [b, snapshot(b, 400n, 0n)],
        [c, snapshot(c, 300n, 0n)],
        [d, snapshot(d, 200n, 0n)],
      );
    tell();
    expect(chosen([a, b, c, d])).toEqual([11, 12]);
    outlooks = new ChainOutlooks(2);
    tell();
    expect([a, b, c, d].map((of) => outlooks.prospect(of, true).isSeen)).toEqual([false, false, true, true]);
  });

  it('forgets nothing when a read fails for the sake of the chain', () => {
    see([a, snapshot(a, 500n, 0n)], [b, snapshot(b, 400n, 0n)], [c, snapshot(c, 300n, 0n)]);
    see(
      [a, new SnapshotError('timed_out', 'late')],
      [b, new SnapshotError('unavailable', 'no depth')],
      [c, snapshot(c, 0n, 0n, 'internal_error')],
    );
    expect(chosen([a, b, c])).toEqual([11, 13]);
  });
});

it('a pool whose guard judges the trader is not among those that are compared', () => {
  const guard = { address: address(99), kind: 'custom' as const, phases: ['beforeSwap' as const] };
  const [open, guarded] = [pool(11), { ...pool(12), extensions: [guard] }];
  const side = { inputs: [1e6], outputs: [1e6] };
  for (const of of [open, guarded]) outlooks.record(of, { bids: side, asks: side, tierRank: 1 });
  expect(outlooks.index.leg(address(1), address(2))?.claimed.best(2, () => true)).toEqual([open]);
});

describe('a pool whose fees are not public', () => {
  it('counts as five until it is known to be read cheaper', () => {
    const packed = pool(11, [1, 2], 'packed');
    expect(outlooks.cost(packed)).toBe(5);
    outlooks.report({ pool: packed.address, rank: 'fit' });
    expect(outlooks.cost(packed)).toBe(1);
    outlooks.report({ pool: packed.address, rank: 'simulation' });
    expect(outlooks.cost(packed)).toBe(5);
    expect(outlooks.cost(pool(12))).toBe(1);
  });
});

it('a request reads no more pools than its limit, over the middle tokens with depth in both legs', () => {
  const vias = [3, 4, 5, 6].map((via) => [pool(10 * via, [1, via]), pool(10 * via + 1, [via, 2])] as const);
  for (const [first, second] of vias) see([first, snapshot(first, 200n, 0n)], [second, snapshot(second, 200n, 0n)]);
  const [, , [thin], [, poor]] = vias as [never, never, readonly [ServedPool], readonly [never, ServedPool]];
  see([thin, snapshot(thin, 1n, 0n)], [poor, snapshot(poor, 1n, 0n)]);
  expect(chosen([pool(11), ...vias.flat()]).slice(-4)).toEqual([30, 31, 40, 41]);
});
