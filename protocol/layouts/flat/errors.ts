import { type Hex, toFunctionSelector } from 'viem';
import type { CallResult } from '../../bounded-calls/bounded-calls.ts';
import type { SwapOutcome } from '../../curve.ts';
import type { PriceFailure } from '../../quote-status.ts';

const PROVIDER_FAILED = toFunctionSelector('PriceProviderFailed(bytes)');
const REFUSED_QUOTES = [toFunctionSelector('BidGreaterThanAsk()'), toFunctionSelector('BidIsZero()')];
const SIMULATED = toFunctionSelector('SimulateSwap(int256,int256)');
const VELOCITY_EXCEEDED = toFunctionSelector('PriceVelocityExceeded(uint256,uint256)');

/** Reads the revert data of the pool's `getSellAndBuyPrices`. */
export function decodePriceFailure(revertData: Hex): PriceFailure {
  const selector = selectorOf(revertData);
  if (selector === PROVIDER_FAILED) return 'feedDown';
  return REFUSED_QUOTES.includes(selector) ? 'quoteRefused' : 'unexplained';
}

/** Reads the result of a simulated swap, which always reverts. */
export function swapOutcome({ success, data }: CallResult): SwapOutcome {
  if (success || data === '0x') return 'silence';
  const selector = selectorOf(data);
  if (selector === SIMULATED) return 'fills';
  return selector === VELOCITY_EXCEEDED ? 'velocity' : 'refused';
}

const selectorOf = (revertData: Hex): Hex => revertData.slice(0, 10).toLowerCase() as Hex;
