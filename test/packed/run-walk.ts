import type { StateOverride } from 'viem';
import type { DevChain } from '../../devnet/dev-chain.ts';
import { CALL_GAS_CAP, CALLER } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { PoolCurve, SellAndBuyPrices } from '../../protocol/curve.ts';
import { walkSide } from '../../protocol/layouts/packed/walk.ts';
import type { WalkedPool } from '../../protocol/layouts/packed/walk-plan.ts';
import { walkedCurve } from '../../protocol/layouts/packed/walked-curve.ts';

/** Runs the programs of a walk of both sides, as a node would that gives each this much gas at most. */
export async function runWalk(
  { client }: DevChain,
  pool: WalkedPool,
  prices: SellAndBuyPrices,
  stateOverride: StateOverride = [],
  gas = CALL_GAS_CAP,
): Promise<{ readonly curve: PoolCurve; readonly calls: number }> {
  let calls = 0;
  const program = async (data: `0x${string}`) => {
    calls += 1;
    return (await client.call({ account: CALLER, data, gas, stateOverride })).data ?? '0x';
  };
  const bids = await walkSide({ program }, pool, true, prices.sellX64);
  const asks = await walkSide({ program }, pool, false, prices.buyX64);
  return { curve: walkedCurve(bids, asks), calls };
}
