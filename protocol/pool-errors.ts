import { decodeErrorResult, encodeErrorResult, type Hex, parseAbi, size, toFunctionSelector } from 'viem';
import type { CallResult } from './bounded-calls/bounded-calls.ts';
import type { SwapAmounts, SwapOutcome } from './curve.ts';
import type { SwapDeltas } from './pool-events.ts';
import type { PriceFailure } from './quote-status.ts';

/** What an error means: of a call for the pool's prices, and of a simulated swap. */
interface ErrorMeaning {
  readonly price: PriceFailure;
  readonly swap: SwapOutcome;
}

const meaning = (swap: SwapOutcome, price: PriceFailure = 'unexplained'): ErrorMeaning => ({ price, swap });

/** Every error of the pools' public ABIs and of the known guards, by its signature. */
export const POOL_ERRORS: Readonly<Record<string, ErrorMeaning>> = {
  'SimulateSwap(int256,int256)': meaning('fills'),
  'FinalAmountIsZero()': meaning('tooSmall'),
  'InvalidAmount()': meaning('tooSmall'),
  'AmountScaledExceedsMax()': meaning('tooLarge'),
  'InsufficientLiquidity(uint256,uint256)': meaning('tooLarge'),
  'OverflowedOnFittingBinBalances(uint256)': meaning('tooLarge'),
  'SafeCastOverflowedIntDowncast(uint8,int256)': meaning('tooLarge'),
  'SafeCastOverflowedIntToUint(int256)': meaning('tooLarge'),
  'SafeCastOverflowedUintDowncast(uint8,uint256)': meaning('tooLarge'),
  'SafeCastOverflowedUintToInt(uint256)': meaning('tooLarge'),
  'PriceVelocityExceeded(uint256,uint256)': meaning('velocity'),
  'OracleStopLossTriggered(int8,bool,uint256,uint256)': meaning('refused'),
  'OracleStopLossTriggered(int16,bool,uint256,uint256)': meaning('refused'),
  'NotAllowedToSwap()': meaning('refused'),
  'ExtensionCallFailed()': meaning('refused'),
  'InvalidExtensionResponse()': meaning('refused'),
  'PanicEmptyExtension()': meaning('refused'),
  'ReentrancyGuardReentrantCall()': meaning('refused'),
  'IncorrectDelta()': meaning('refused'),
  'InsufficientTokenBalance()': meaning('refused'),
  'InvalidBinIndex(int256)': meaning('refused'),
  'SafeERC20FailedOperation(address)': meaning('refused'),
  'PriceProviderFailed(bytes)': meaning('refused', 'feedDown'),
  'PoolPaused()': meaning('refused', 'paused'),
  'BidIsZero()': meaning('refused', 'quoteRefused'),
  'BidGreaterThanAsk()': meaning('refused', 'quoteRefused'),
  'ReferencePriceOutOfRange()': meaning('refused', 'quoteRefused'),
  'BidAskRefAsymmetryOutOfBounds()': meaning('refused', 'quoteRefused'),
};

const BY_SELECTOR: ReadonlyMap<string, ErrorMeaning> = new Map(
  Object.entries(POOL_ERRORS).map(([signature, of]) => [toFunctionSelector(signature), of]),
);
const SIMULATED_ABI = parseAbi(['error SimulateSwap(int256 amount0Delta, int256 amount1Delta)']);
/** A selector and two words. */
const SIMULATED_BYTES = 68;

/** Why a call for a pool's prices reverted. */
export function priceFailure(revertData: Hex): PriceFailure {
  return BY_SELECTOR.get(selectorOf(revertData))?.price ?? 'unexplained';
}

/** Reads how a simulated swap ended; the first four bytes of its result are enough. */
export function swapOutcome({ success, data }: CallResult): SwapOutcome {
  if (success || data === '0x') return 'silence';
  return BY_SELECTOR.get(selectorOf(data))?.swap ?? 'refused';
}

/** The selector of an error that {@link POOL_ERRORS} does not have; null for a known one, and without a selector. */
export function unknownError({ success, data }: CallResult): Hex | null {
  if (success || size(data) < 4) return null;
  const selector = selectorOf(data);
  return BY_SELECTOR.has(selector) ? null : selector;
}

/** Raw amounts of a simulated swap that fills, positive into the pool; null for any other, and without all data. */
export function simulatedAmounts(result: CallResult): SwapDeltas | null {
  if (swapOutcome(result) !== 'fills' || size(result.data) < SIMULATED_BYTES) return null;
  const { args } = decodeErrorResult({ abi: SIMULATED_ABI, data: result.data });
  return { amount0Delta: args[0], amount1Delta: args[1] };
}

/** The result of a simulated swap that fills with these amounts. */
export const simulatedResult = ({ amount0Delta, amount1Delta }: SwapDeltas): CallResult => ({
  success: false,
  data: encodeErrorResult({ abi: SIMULATED_ABI, errorName: 'SimulateSwap', args: [amount0Delta, amount1Delta] }),
});

/** What a pool took and gave in a simulated swap; null where it refused. */
export function filledSwap(
  { zeroForOne }: { readonly zeroForOne: boolean },
  result: CallResult | undefined,
): SwapAmounts | null {
  const amounts = result ? simulatedAmounts(result) : null;
  return amounts && swapAmounts(zeroForOne, amounts);
}

export const swapAmounts = (zeroForOne: boolean, { amount0Delta, amount1Delta }: SwapDeltas): SwapAmounts =>
  zeroForOne
    ? { amountIn: amount0Delta, amountOut: -amount1Delta }
    : { amountIn: amount1Delta, amountOut: -amount0Delta };

const selectorOf = (data: Hex): Hex => data.slice(0, 10).toLowerCase() as Hex;
