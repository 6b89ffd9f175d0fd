import { toFunctionSelector } from 'viem';
import type { CallResult } from '../../bounded-calls/bounded-calls.ts';
import type { SwapOutcome } from '../../curve.ts';

const SIMULATED = toFunctionSelector('SimulateSwap(int256,int256)');
const VELOCITY_EXCEEDED = toFunctionSelector('PriceVelocityExceeded(uint256,uint256)');

/** Reads the result of a simulated swap, which always reverts. */
export function swapOutcome({ success, data }: CallResult): SwapOutcome {
  if (success || data === '0x') return 'silence';
  const selector = data.slice(0, 10).toLowerCase();
  if (selector === SIMULATED) return 'fills';
  return selector === VELOCITY_EXCEEDED ? 'velocity' : 'refused';
}
