import type { StateOverride } from 'viem';
import type { DevChain } from '../../devnet/dev-chain.ts';
import { CALLER } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { TradingSides } from '../../protocol/guards/side-claim.ts';
import type { FoundSide, ProgramStep } from '../../protocol/layouts/packed/walk.ts';

export const tradingSides = (bids: FoundSide, asks: FoundSide): TradingSides => ({
  bids: bids.levels,
  asks: asks.levels,
});

/** Runs the programs of a walk, as a node would that gives each this much gas at most. */
export async function runWalk(
  { client }: DevChain,
  begin: ProgramStep<TradingSides> | TradingSides,
  stateOverride: StateOverride = [],
  mostGas?: bigint,
): Promise<{ readonly sides: TradingSides; readonly calls: number }> {
  let step = begin;
  for (let calls = 0; ; calls++) {
    if (!('kind' in step)) return { sides: step, calls };
    const gas = mostGas ?? step.gas;
    const { data = '0x' } = await client.call({ account: CALLER, data: step.data, gas, stateOverride });
    step = step.next(data);
  }
}
