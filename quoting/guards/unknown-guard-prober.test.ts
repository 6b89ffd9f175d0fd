import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { BlockRef } from '../../chain/chain-rpc.ts';
import type { PoolCurve } from '../../protocol/curve.ts';
import type { TradingSides } from '../../protocol/guards/side-claim.ts';
import { flatSimulation } from '../../protocol/layouts/flat/adapter.ts';
import { walkSides } from '../../protocol/layouts/flat/geometry.ts';
import { type ModelPool, modelPool, simulateOnModel } from '../../protocol/layouts/flat/stop-loss-model.fixture.ts';
import { poolCurve } from '../../protocol/layouts/pool-side.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { flatPool } from '../pools/served-pool.fixture.ts';
import { modelChain, type SimulateSwap } from './model-node.fixture.ts';
import { UnknownGuardProber } from './unknown-guard-prober.ts';

const BLOCK: BlockRef = { number: 1n, hash: `0x${'11'.repeat(32)}`, timestamp: 1n };

/** The curve of a pool whose own arithmetic is exact, and what it answers without a stop loss. */
function openPool(model: ModelPool): { readonly curve: PoolCurve; readonly simulate: SimulateSwap } {
  const pool = { ...model, stopLoss: { ...model.stopLoss, bins: new Map() } };
  return {
    curve: poolCurve(walkSides(model.priced), flatSimulation, 'flat'),
    simulate: (zeroForOne, amount) => simulateOnModel(pool, zeroForOne, amount),
  };
}

const probe = (curve: PoolCurve, simulate: SimulateSwap): Promise<TradingSides> =>
  new UnknownGuardProber(modelChain(simulate)).probe(BLOCK, { pool: flatPool(1), curve }, AbortSignal.timeout(60_000));

test('an extension that allows all leaves the side whole', async () => {
  await fc.assert(
    fc.asyncProperty(modelPool, async (model) => {
      const { curve, simulate } = openPool(model);
      expect(await probe(curve, simulate)).toEqual({ bids: curve.bids.levels, asks: curve.asks.levels });
    }),
    { numRuns: runs(200) },
  );
});
