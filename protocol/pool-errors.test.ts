import { concatHex, encodeErrorResult, type Hex, parseAbi, toFunctionSelector } from 'viem';
import { expect, test } from 'vitest';
import type { SwapOutcome } from './curve.ts';
import { POOL_ERRORS, priceFailure, simulatedAmounts, swapOutcome, unknownError } from './pool-errors.ts';
import { type PriceFailure, quoteStatus } from './quote-status.ts';

type Status = ReturnType<typeof quoteStatus>;

/** Every error of the public ABI, then those of the known guards: how a simulated swap and a price call end with it. */
const MEANINGS: readonly (readonly [string, SwapOutcome, PriceFailure, Status])[] = [
  ['AmountScaledExceedsMax()', 'tooLarge', 'unexplained', 'unknown'],
  ['BidAskRefAsymmetryOutOfBounds()', 'refused', 'quoteRefused', 'pool_refused'],
  ['BidGreaterThanAsk()', 'refused', 'quoteRefused', 'pool_refused'],
  ['BidIsZero()', 'refused', 'quoteRefused', 'pool_refused'],
  ['ExtensionCallFailed()', 'refused', 'unexplained', 'unknown'],
  ['FinalAmountIsZero()', 'tooSmall', 'unexplained', 'unknown'],
  ['IncorrectDelta()', 'refused', 'unexplained', 'unknown'],
  ['InsufficientLiquidity(uint256,uint256)', 'tooLarge', 'unexplained', 'unknown'],
  ['InsufficientTokenBalance()', 'refused', 'unexplained', 'unknown'],
  ['InvalidAmount()', 'tooSmall', 'unexplained', 'unknown'],
  ['InvalidBinIndex(int256)', 'refused', 'unexplained', 'unknown'],
  ['InvalidExtensionResponse()', 'refused', 'unexplained', 'unknown'],
  ['NotAllowedToSwap()', 'refused', 'unexplained', 'unknown'],
  ['OverflowedOnFittingBinBalances(uint256)', 'tooLarge', 'unexplained', 'unknown'],
  ['PanicEmptyExtension()', 'refused', 'unexplained', 'unknown'],
  ['PoolPaused()', 'refused', 'paused', 'pool_paused'],
  ['PriceProviderFailed(bytes)', 'refused', 'feedDown', 'feed_down'],
  ['ReentrancyGuardReentrantCall()', 'refused', 'unexplained', 'unknown'],
  ['ReferencePriceOutOfRange()', 'refused', 'quoteRefused', 'pool_refused'],
  ['SafeCastOverflowedIntDowncast(uint8,int256)', 'tooLarge', 'unexplained', 'unknown'],
  ['SafeCastOverflowedIntToUint(int256)', 'tooLarge', 'unexplained', 'unknown'],
  ['SafeCastOverflowedUintDowncast(uint8,uint256)', 'tooLarge', 'unexplained', 'unknown'],
  ['SafeCastOverflowedUintToInt(uint256)', 'tooLarge', 'unexplained', 'unknown'],
  ['SafeERC20FailedOperation(address)', 'refused', 'unexplained', 'unknown'],
  ['SimulateSwap(int256,int256)', 'fills', 'unexplained', 'unknown'],
  ['PriceVelocityExceeded(uint256,uint256)', 'velocity', 'unexplained', 'unknown'],
  ['OracleStopLossTriggered(int8,bool,uint256,uint256)', 'refused', 'unexplained', 'unknown'],
  ['OracleStopLossTriggered(int16,bool,uint256,uint256)', 'refused', 'unexplained', 'unknown'],
];
const ARGUMENTS: Hex = `0x${'11'.repeat(64)}`;

test.each(MEANINGS)('%s: a swap is %s, a price %s, the status %s', (signature, outcome, failure, status) => {
  const selector = toFunctionSelector(signature);
  const upper = `0x${selector.slice(2).toUpperCase()}` as Hex;
  for (const data of [selector, upper, concatHex([selector, ARGUMENTS])]) {
    const result = { success: false, data };
    expect(swapOutcome(result)).toBe(outcome);
    expect(priceFailure(data)).toBe(failure);
    expect(unknownError(result)).toBeNull();
  }
  expect(quoteStatus({ price: failure, pauseLevel: 0, bidsRejected: false, asksRejected: false })).toBe(status);
});

test('the table has these errors and no other', () => {
  expect(Object.keys(POOL_ERRORS).sort()).toEqual(MEANINGS.map(([signature]) => signature).sort());
});

test.each<[string, Hex, Hex | null]>([
  ['an error of somebody else', `0x12345678${'00'.repeat(32)}`, '0x12345678'],
  ['a panic', `0x4e487b71${'11'.padStart(64, '0')}`, '0x4e487b71'],
  ['a selector alone, in capitals', '0xABCDEF12', '0xabcdef12'],
  ['half a selector', '0x1234', null],
  ['no data', '0x', null],
])('%s: a price is unexplained, and the selector is reported', (_, data, selector) => {
  expect(priceFailure(data)).toBe('unexplained');
  expect(swapOutcome({ success: false, data })).toBe(data === '0x' ? 'silence' : 'refused');
  expect(unknownError({ success: false, data })).toBe(selector);
  expect(unknownError({ success: true, data })).toBeNull();
});

test('amounts are those of a swap that fills, and of no other', () => {
  const abi = parseAbi(['error SimulateSwap(int256 amount0Delta, int256 amount1Delta)']);
  const data = encodeErrorResult({ abi, errorName: 'SimulateSwap', args: [-5n, 7n] });
  expect(simulatedAmounts({ success: false, data })).toEqual({ amount0Delta: -5n, amount1Delta: 7n });
  expect(simulatedAmounts({ success: false, data: data.slice(0, 100) as Hex })).toBeNull();
  expect(simulatedAmounts({ success: true, data })).toBeNull();
  expect(swapOutcome({ success: true, data })).toBe('silence');
  expect(simulatedAmounts({ success: false, data: toFunctionSelector('FinalAmountIsZero()') })).toBeNull();
});
