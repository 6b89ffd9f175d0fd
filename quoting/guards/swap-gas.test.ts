import fc from 'fast-check';
import { zeroAddress } from 'viem';
import { expect, test } from 'vitest';
import { boundedCallsOnce } from '../../chain/isolated-calls.ts';
import { pendingPart } from '../../chain/pending-part.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import { flatSimulation } from '../../protocol/layouts/flat/adapter.ts';
import { walkSides } from '../../protocol/layouts/flat/geometry.ts';
import { modelPool, simulateOnModel } from '../../protocol/layouts/flat/stop-loss-model.fixture.ts';
import { poolCurve } from '../../protocol/layouts/pool-side.ts';
import { atNewestPart } from '../parts/newest-part.ts';
import { flatPool } from '../pools/served-pool.fixture.ts';
import { pricedAt } from '../snapshot.fixture.ts';
import type { DepthSnapshot } from '../types.ts';
import { modelChain } from './model-node.fixture.ts';
import { SwapGas, type SwapGasDeps } from './swap-gas.ts';

const BLOCK = { number: 1n, hash: `0x${'11'.repeat(32)}`, timestamp: 1n } as const;
const VIEW = { blockNumber: 2n, timestamp: 3n, parentHash: BLOCK.hash, feesWei: 0n } as const;
const PART_BLOCK = { ...BLOCK, pending: pendingPart({ view: VIEW, index: 0, multicall3: zeroAddress }, 0) };
const NEVER = new AbortController().signal;
const HOUR_MS = 3_600_000;

const settle = async () => {
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
};

/**
 * Pools that trade without guards, and the gas of their swaps on a chain that counts what is simulated.
 *
 * @param count of the pools
 */
function startWorld(count = 3) {
  const models = fc.sample(modelPool, { numRuns: 5, seed: 7 });
  const state = {
    now: 0,
    simulated: 0,
    isDown: false,
    logged: 0,
    calls: Number.POSITIVE_INFINITY,
    sent: 0,
    /** How often a newer part comes before a call. */
    parts: 0,
  };
  const note = () => {
    state.logged += 1;
  };
  const logger = { info: note, warn: note };
  const [model] = models;
  if (!model) throw new Error('there is no pool');
  const pool = { ...model, stopLoss: { ...model.stopLoss, bins: new Map() } };
  const viewOf = () => ({ ...VIEW, feesWei: BigInt(Math.min(++state.sent, state.parts)) });
  const target = modelChain((zeroForOne, amount) => {
    state.simulated += 1;
    if (state.isDown) throw new RpcFailure('unreachable', 'down');
    return simulateOnModel(pool, zeroForOne, amount);
  }, viewOf);
  const curve = poolCurve(walkSides(model.priced), flatSimulation, 'flat');
  const snapshots = Array.from({ length: count }, (_, n): DepthSnapshot => {
    const depth = { bids: curve.bids.levels, asks: curve.asks.levels };
    return { ...pricedAt(2n, flatPool(n), BLOCK), curve: curve as never, depth };
  });
  const reserve = () => {
    state.calls -= 1;
    return state.calls >= 0;
  };
  const send: SwapGasDeps['send'] = (at, calls) =>
    atNewestPart(at.block, { now: () => state.now }, (block) => boundedCallsOnce(target, { ...at, block }, calls));
  return { state, snapshots, gas: new SwapGas({ send, reserve, logger, now: () => state.now }) };
}

test('both directions of each pool are simulated once an hour, whoever asks, and at once for all that are asked for', async () => {
  const { state, snapshots, gas } = startWorld();
  const ask = () => snapshots.map((snapshot) => gas.of(snapshot, BLOCK));
  expect(ask()).toEqual(snapshots.map(() => ({ bids: null, asks: null })));
  await settle();
  expect(state.simulated).toBe(4 * snapshots.length);
  for (const { bids, asks } of ask()) expect([typeof bids?.whole, typeof asks?.whole]).toEqual(['number', 'number']);
  state.now = HOUR_MS - 1;
  ask();
  await settle();
  expect(state.simulated).toBe(4 * snapshots.length);
  state.now = HOUR_MS;
  expect(ask()[0]).not.toEqual({ bids: null, asks: null });
  await settle();
  expect(state.simulated).toBe(8 * snapshots.length);
});

test('a pool that is asked for while it is measured is not measured twice', async () => {
  const { state, snapshots, gas } = startWorld();
  const [snapshot] = snapshots as [DepthSnapshot];
  const later = { ...BLOCK, hash: `0x${'22'.repeat(32)}` } as const;
  gas.of(snapshot, BLOCK);
  await new Promise(setImmediate);
  gas.of(snapshot, later);
  await settle();
  expect(state.simulated).toBe(4);
});

test('when the bins of a pool change, it is measured again, once a minute at most', async () => {
  const { state, snapshots, gas } = startWorld();
  const [snapshot] = snapshots as [DepthSnapshot];
  gas.of(snapshot, BLOCK);
  await settle();
  const other = { ...snapshot, depth: { bids: [], asks: snapshot.depth.asks } };
  state.now = 59_999;
  gas.of(other, BLOCK);
  await settle();
  expect(state.simulated).toBe(4);
  state.now = 60_000;
  gas.of(other, BLOCK);
  await settle();
  expect([state.simulated, gas.of(other, BLOCK).bids]).toEqual([6, null]);
});

test('while nodes do not answer, what was measured stays, and they are asked once a minute', async () => {
  const { state, snapshots, gas } = startWorld();
  const [snapshot] = snapshots as [DepthSnapshot];
  gas.of(snapshot, BLOCK);
  await settle();
  const measured = gas.of(snapshot, BLOCK);
  state.isDown = true;
  state.now = HOUR_MS;
  gas.of(snapshot, BLOCK);
  await settle();
  const failed = state.simulated;
  expect(state.logged).toBe(1);
  state.now += 59_999;
  expect(gas.of(snapshot, BLOCK)).toEqual(measured);
  await settle();
  expect(state.simulated).toBe(failed);
  state.isDown = false;
  state.now += 1;
  gas.of(snapshot, BLOCK);
  await settle();
  expect([state.simulated, state.logged]).toEqual([failed + 4, 2]);
});

test('calls are those that the budget has: other pools are measured when it has more', async () => {
  const { state, snapshots, gas } = startWorld(100);
  const known = () => snapshots.filter((snapshot) => gas.of(snapshot, BLOCK).bids !== null).length;
  const counts: number[] = [];
  for (state.now = 0; state.now < 5 * 60_000; state.now += 60_000) {
    state.calls = 2;
    known();
    await settle();
    counts.push(known());
  }
  expect(counts).toEqual(counts.toSorted((one, other) => one - other));
  expect(counts.at(0)).toBeGreaterThan(0);
  expect(counts.at(0)).toBeLessThan(snapshots.length / 2 + 1);
  expect([counts.at(-1), state.logged]).toEqual([snapshots.length, 0]);
});

test('what somebody waits for is measured before all other pools that were asked for, and alone waited for', async () => {
  const { state, snapshots, gas } = startWorld(200);
  for (const each of snapshots.slice(0, 150)) gas.of(each, BLOCK);
  const [first, last] = [snapshots[0], snapshots[149]] as [DepthSnapshot, DepthSnapshot];
  await gas.settled(new Set([last.pool.address]));
  expect([gas.of(last, BLOCK).bids, gas.of(first, BLOCK).bids]).not.toContain(null);
  // Those of one call; the next one may have begun.
  expect(state.simulated).toBeLessThanOrEqual(2 * 4 * 25);
  const amount = first.depth.bids[0]?.cumulativeInput ?? 1n;
  await gas.simulate({ snapshot: first, zeroForOne: true, amount, signal: NEVER });
  expect(state.simulated).toBeLessThanOrEqual(4 * 4 * 25);
  await gas.settled(new Set(snapshots.map(({ pool }) => pool.address)));
  expect(snapshots.filter((each) => gas.of(each, BLOCK).bids === null)).toHaveLength(50);
});

test('a simulation that was given up is not made, and holds nobody up', async () => {
  const { state, snapshots, gas } = startWorld();
  const [snapshot, other] = snapshots as [DepthSnapshot, DepthSnapshot];
  const of = { snapshot, zeroForOne: true, amount: snapshot.depth.bids[0]?.cumulativeInput ?? 1n };
  const [late, aborted] = [new AbortController(), AbortSignal.abort()];
  const simulated = [gas.simulate({ ...of, signal: late.signal }), gas.simulate({ ...of, signal: aborted })];
  const settled = gas.settled(new Set([snapshot.pool.address]));
  late.abort();
  expect(await Promise.all(simulated)).toEqual([null, null]);
  await settled;
  await settle();
  expect(state.simulated).toBe(0);
  gas.of(other, BLOCK);
  await gas.settled(new Set([other.pool.address]));
  expect(state.simulated).toBe(4);
});

test('a pool whose curve is not known has no gas, and costs no call', async () => {
  const { state, snapshots, gas } = startWorld();
  const [snapshot] = snapshots as [DepthSnapshot];
  expect(gas.of({ ...snapshot, curve: null }, BLOCK)).toEqual({ bids: null, asks: null });
  await settle();
  expect([state.simulated, gas.of({ ...snapshot, curve: null }, BLOCK)]).toEqual([0, { bids: null, asks: null }]);
});

test.each([1, 2])('where %i newer parts come before a call, gas is that of the newest one', async (parts) => {
  const { state, snapshots, gas } = startWorld();
  const atPart = snapshots.map((snapshot) => ({ ...snapshot, block: PART_BLOCK }));
  const addresses = new Set(atPart.map(({ pool }) => pool.address));
  state.parts = parts;
  state.calls = parts + 1;
  for (const each of atPart) gas.of(each, each.block);
  await gas.settled(addresses);
  const known = atPart.map((each) => gas.of(each, each.block));
  expect(known.flatMap(({ bids, asks }) => [bids, asks])).not.toContain(null);
  const [first] = atPart as [DepthSnapshot];
  const swap = { snapshot: first, zeroForOne: true, amount: first.depth.bids[0]?.cumulativeInput ?? 1n, signal: NEVER };
  [state.sent, state.calls] = [0, parts + 1];
  expect(await gas.simulate(swap)).toBeGreaterThan(0);
  expect([state.sent, state.calls, state.logged]).toEqual([parts + 1, 0, 0]);
});

test('where parts come too fast, gas is not known, which is no outage', async () => {
  const { state, snapshots, gas } = startWorld();
  const [snapshot] = snapshots as [DepthSnapshot];
  state.parts = Number.MAX_SAFE_INTEGER;
  gas.of(snapshot, PART_BLOCK);
  await gas.settled(new Set([snapshot.pool.address]));
  expect([state.sent, gas.of(snapshot, PART_BLOCK), state.logged]).toEqual([3, { bids: null, asks: null }, 0]);
});
