import { encodeErrorResult, type Hex, parseAbi } from 'viem';
import { describe, expect, it } from 'vitest';
import { poolErrors, priceVelocityGuardAbi } from '../../../devnet/protocol-abi.ts';
import { decodePriceFailure, swapOutcome } from './errors.ts';
import { stopLossAbi } from './extension-abi.ts';

const foreign = parseAbi([
  'error FeedStalled()',
  'error NotRegistered(address provider)',
  'error TooLate(uint256 now)',
]);
const stalled = encodeErrorResult({ abi: foreign, errorName: 'FeedStalled' });
const oracleError = encodeErrorResult({
  abi: foreign,
  errorName: 'NotRegistered',
  args: ['0x1111111111111111111111111111111111111111'],
});
const providerFailed = (reason: Hex) =>
  encodeErrorResult({ abi: poolErrors, errorName: 'PriceProviderFailed', args: [reason] });
const poolError = (errorName: 'BidGreaterThanAsk' | 'BidIsZero' | 'PoolPaused' | 'NotAllowedToSwap') =>
  encodeErrorResult({ abi: poolErrors, errorName });
const PANIC = `0x4e487b71${'11'.padStart(64, '0')}` as const;

describe('decodePriceFailure', () => {
  it.each([
    ['a stalled feed', providerFailed(stalled), 'feedDown'],
    ["the oracle's own error", providerFailed(oracleError), 'feedDown'],
    ['a provider that says nothing', providerFailed('0x'), 'feedDown'],
    ['a bid above the ask', poolError('BidGreaterThanAsk'), 'quoteRefused'],
    ['a bid of zero', poolError('BidIsZero'), 'quoteRefused'],
    ['no revert data', '0x', 'unexplained'],
    ['half a selector', '0x1234', 'unexplained'],
    ['a panic', PANIC, 'unexplained'],
    ['an unknown error', oracleError, 'unexplained'],
    ['an error of another call', poolError('PoolPaused'), 'unexplained'],
  ] as const)('explains %s', (_, revertData, cause) => {
    expect(decodePriceFailure(revertData)).toBe(cause);
  });

  it('reads selectors in any case', () => {
    const upper = `0x${poolError('BidIsZero').slice(2).toUpperCase()}` as const;
    expect(decodePriceFailure(upper)).toBe('quoteRefused');
  });
});

describe('swapOutcome', () => {
  const simulated = encodeErrorResult({ abi: poolErrors, errorName: 'SimulateSwap', args: [1n, -2n] });
  const velocity = encodeErrorResult({
    abi: priceVelocityGuardAbi,
    errorName: 'PriceVelocityExceeded',
    args: [2n, 1n],
  });
  const stopLoss = encodeErrorResult({
    abi: stopLossAbi,
    errorName: 'OracleStopLossTriggered',
    args: [-1, true, 1n, 2n],
  });

  it.each([
    ['a swap', simulated, 'fills'],
    ['a velocity guard', velocity, 'velocity'],
    ['a stop loss', stopLoss, 'refused'],
    ['a swap allowlist', poolError('NotAllowedToSwap'), 'refused'],
    ['a custom extension', oracleError, 'refused'],
    ['a panic', PANIC, 'refused'],
  ] as const)('reads %s off the selector', (_, revertData, outcome) => {
    expect(swapOutcome({ success: false, data: revertData.slice(0, 10) as Hex })).toBe(outcome);
  });

  it('takes no answer for silence', () => {
    expect(swapOutcome({ success: false, data: '0x' })).toBe('silence');
    expect(swapOutcome({ success: true, data: simulated })).toBe('silence');
  });
});
