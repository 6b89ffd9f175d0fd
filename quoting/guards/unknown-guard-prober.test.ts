import fc from 'fast-check';
import { zeroAddress } from 'viem';
import { expect, test } from 'vitest';
import { fakeNodes } from '../../chain/fake-nodes.fixture.ts';
import { OtherPart } from '../../chain/part-view.ts';
import type { PartView } from '../../chain/pending-state.ts';
import type { BlockRef } from '../../chain/read-context.ts';
import { RpcFailure } from '../../chain/rpc-failure.ts';
import type { PoolCurve, SwapAmounts } from '../../protocol/curve.ts';
import type { DepthLevel, TradingSides } from '../../protocol/depth.ts';
import { flatSimulation } from '../../protocol/layouts/flat/adapter.ts';
import { walkSides } from '../../protocol/layouts/flat/geometry.ts';
import { type ModelPool, modelPool, simulateOnModel } from '../../protocol/layouts/flat/stop-loss-model.fixture.ts';
import { poolCurve } from '../../protocol/layouts/pool-side.ts';
import { filledSwap, simulatedResult } from '../../protocol/pool-errors.ts';
import { fillCurve, foundAt } from '../../protocol/routing/fill-curve.ts';
import { PROPERTY_SEED, runs } from '../../test/harness/property-seed.ts';
import { flatPool } from '../pools/served-pool.fixture.ts';
import { SnapshotError } from '../snapshot-error.ts';
import { modelChain, type SimulateSwap } from './model-node.fixture.ts';
import { asProbeError, UnknownGuardProber } from './unknown-guard-prober.ts';

const BLOCK: BlockRef = { number: 1n, hash: `0x${'11'.repeat(32)}`, timestamp: 1n };
const ROUNDED = 2n;
/** Parts of a bin, in millionths. */
const PARTS_E6 = [1n, 1_000n, 100_000n, 400_000n, 500_000n, 900_000n, 999_999n, 1_000_000n];
const part = fc.constantFrom(...PARTS_E6);

/** The curve of a pool whose own arithmetic is exact, and what it answers without a stop loss. */
function openPool(model: ModelPool): { readonly curve: PoolCurve; readonly simulate: SimulateSwap } {
  const pool = { ...model, stopLoss: { ...model.stopLoss, bins: new Map() } };
  return {
    curve: poolCurve(walkSides(model.priced), flatSimulation, 'flat'),
    simulate: (zeroForOne, amount) => simulateOnModel(pool, zeroForOne, amount),
  };
}

const probe = (curve: PoolCurve, simulate: SimulateSwap): Promise<TradingSides> =>
  new UnknownGuardProber(modelChain(simulate)).probe({ block: BLOCK }, { pool: flatPool(1), curve });

const viewOf = (feesWei: bigint): PartView => ({ blockNumber: 2n, timestamp: 3n, parentHash: BLOCK.hash, feesWei });
const part5 = { view: viewOf(5n), index: null, multicall3: zeroAddress };
const AT_PART: BlockRef = {
  ...BLOCK,
  pending: { blockNumber: 2n, timestamp: 3n, overrides: new Map(), digest: '5', receivedAt: 0, part: part5 },
};

/** Probes after the part with 5 wei of fees, with a node that comes to these parts, one a call, then stays there. */
function probeAtPart(curve: PoolCurve, simulate: SimulateSwap, fees: readonly bigint[]): Promise<TradingSides> {
  let calls = 0;
  const target = modelChain(simulate, () => viewOf(fees[Math.min(calls++, fees.length - 1)] ?? 0n));
  return new UnknownGuardProber(target).probe({ block: AT_PART }, { pool: flatPool(1), curve });
}

test('an extension that allows all leaves the side whole', async () => {
  await fc.assert(
    fc.asyncProperty(modelPool, async (model) => {
      const { curve, simulate } = openPool(model);
      expect(await probe(curve, simulate)).toEqual({ bids: curve.bids.levels, asks: curve.asks.levels });
    }),
    { numRuns: runs(200) },
  );
});

test('a pool that pays less from some input on is promised no more than it gives', async () => {
  let cut = 0;
  await fc.assert(
    fc.asyncProperty(modelPool, fc.nat(4), part, part, async (model, drawn, partE6, cappedE6) => {
      const { curve, simulate } = openPool(model);
      for (const side of [curve.bids, curve.asks]) {
        const bin = drawn % side.levels.length;
        const [start, end] = [side.levels[bin - 1]?.cumulativeInput ?? 0n, side.levels[bin]?.cumulativeInput ?? 0n];
        const from = start + ((end - start) * partE6) / 1_000_000n;
        const cap = from + (((side.levels.at(-1)?.cumulativeInput ?? 0n) - from) * cappedE6) / 1_000_000n;
        const paysLess = lessFrom(simulate, from, cap);
        const { bids, asks } = await probe(curve, paysLess);
        const levels = (side.zeroForOne ? bids : asks) ?? [];
        expect(brokenPromises(levels, (input) => filledSwap(side, paysLess(side.zeroForOne, input)))).toEqual([]);
        const whole = side.levels.filter(({ cumulativeInput }) => cumulativeInput < from);
        // All that these bins give, maybe for a raw unit less.
        const givenOf = (of: readonly DepthLevel[]) => of.map(({ bin, cumulativeOutput }) => [bin, cumulativeOutput]);
        expect(givenOf(levels.slice(0, whole.length))).toEqual(givenOf(whole));
        if (levels.at(-1)?.cumulativeInput !== side.levels.at(-1)?.cumulativeInput) cut += 1;
      }
    }),
    { numRuns: runs(200) },
  );
  expect(cut).toBeGreaterThan(runs(200));
});

test('after a part of a block every call shows that part, and no more is promised than the pool gives', async () => {
  let moved = 0;
  await fc.assert(
    fc.asyncProperty(modelPool, fc.nat(4), part, async (model, drawn, partE6) => {
      const { curve, simulate } = openPool(model);
      const side = curve.bids.levels.length > 0 ? curve.bids : curve.asks;
      const bin = drawn % side.levels.length;
      const [start, end] = [side.levels[bin - 1]?.cumulativeInput ?? 0n, side.levels[bin]?.cumulativeInput ?? 0n];
      const paysLess = lessFrom(simulate, start + ((end - start) * partE6) / 1_000_000n, end);
      const { bids, asks } = await probeAtPart(curve, paysLess, [5n]);
      const levels = (side.zeroForOne ? bids : asks) ?? [];
      expect(brokenPromises(levels, (input) => filledSwap(side, paysLess(side.zeroForOne, input)))).toEqual([]);
      const output = levels.at(-1)?.cumulativeOutput ?? 0n;
      if (output > 1n) expect(filledSwap(side, paysLess(side.zeroForOne, -output))).not.toBeNull();
      // Both sides are probed by one call each; a side that ends takes others.
      const later = await probeAtPart(curve, paysLess, [5n, 5n, 6n]).catch((error: unknown) => error);
      if (later instanceof OtherPart) {
        expect(later.view).toMatchObject(viewOf(6n));
        moved += 1;
      } else expect(later).toEqual({ bids, asks });
    }),
    { numRuns: runs(40) },
  );
  expect(moved).toBeGreaterThan(runs(10));
});

test('probes that ran on another part of the block say so: all pools are read on that one', () => {
  const other = new OtherPart({ blockNumber: 2n, timestamp: 3n, parentHash: BLOCK.hash, feesWei: 1n });
  expect(() => asProbeError(other)).toThrow(other);
});

test('a probe that takes too long is late, as any other read, and one that nodes fail is failed', () => {
  const codeOf = (code: RpcFailure['code']) => asProbeError(new RpcFailure(code, 'no')).code;
  expect((['timeout', 'aborted', 'unreachable'] as const).map(codeOf)).toEqual([
    'timed_out',
    'timed_out',
    'read_failed',
  ]);
});

test('a refusal is about the block where nodes refuse anything of it, else about the pool', async () => {
  const [model] = fc.sample(modelPool, { numRuns: 1, seed: PROPERTY_SEED });
  const { curve } = openPool(model as ModelPool);
  for (const [isGone, error] of [
    [true, RpcFailure],
    [false, SnapshotError],
  ] as const) {
    const rpc = fakeNodes(
      [
        async (method) => {
          if (method === 'eth_getCode' && !isGone) return '0x00';
          throw new RpcFailure('refused', 'header not found');
        },
      ],
      () => 0,
    );
    const probing = new UnknownGuardProber({ chainId: 1, rpc }).probe({ block: BLOCK }, { pool: flatPool(1), curve });
    await expect(probing).rejects.toBeInstanceOf(error);
  }
});

/** Inputs of at least `from` pay 1% less than the pool would; those beyond `cap` are refused. */
const lessFrom =
  (simulate: SimulateSwap, from: bigint, cap: bigint): SimulateSwap =>
  (zeroForOne, amount) => {
    const result = simulate(zeroForOne, amount);
    const fill = filledSwap({ zeroForOne }, result);
    if (!fill || amount < 0n || fill.amountIn < from) return result;
    if (amount > cap) return { success: false, data: '0x' };
    const [paid, given] = [fill.amountIn, (fill.amountOut * -99n) / 100n];
    return simulatedResult(
      zeroForOne ? { amount0Delta: paid, amount1Delta: given } : { amount0Delta: given, amount1Delta: paid },
    );
  };

/**
 * Inputs for which a pool gives less than levels promise,
 * the raw unit or two aside that roundings take of either token.
 */
function brokenPromises(levels: readonly DepthLevel[], swap: (input: bigint) => SwapAmounts | null): string[] {
  const promises = fillCurve(levels, 'exact_in');
  const inputs = promises.given.flatMap((end, index) => {
    const start = promises.given[index - 1] ?? 0n;
    return [...PARTS_E6.map((part) => start + ((end - start) * part) / 1_000_000n), end - 1n];
  });
  return inputs.flatMap((input) => {
    const given = swap(input)?.amountOut ?? 0n;
    const isKept = given + ROUNDED >= foundAt(promises, input - ROUNDED);
    return isKept ? [] : [`${input}: ${foundAt(promises, input)} was promised, gave ${given}`];
  });
}
