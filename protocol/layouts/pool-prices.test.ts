import { encodeErrorResult, type Hex, parseAbi } from 'viem';
import { describe, expect, it } from 'vitest';
import { packedPoolErrors } from '../../devnet/packed/abi.ts';
import { poolErrors } from '../../devnet/protocol-abi.ts';
import { decodePriceFailure } from './pool-prices.ts';

const foreign = parseAbi(['error FeedStalled()', 'error NotRegistered(address provider)']);
const stalled = encodeErrorResult({ abi: foreign, errorName: 'FeedStalled' });
const oracleError = encodeErrorResult({
  abi: foreign,
  errorName: 'NotRegistered',
  args: ['0x1111111111111111111111111111111111111111'],
});
const providerFailed = (reason: Hex) =>
  encodeErrorResult({ abi: poolErrors, errorName: 'PriceProviderFailed', args: [reason] });
const poolError = (errorName: 'BidGreaterThanAsk' | 'BidIsZero' | 'PoolPaused') =>
  encodeErrorResult({ abi: poolErrors, errorName });
const referenceOutOfRange = encodeErrorResult({ abi: packedPoolErrors, errorName: 'ReferencePriceOutOfRange' });
const PANIC = `0x4e487b71${'11'.padStart(64, '0')}` as const;

describe('decodePriceFailure', () => {
  it.each([
    ['a stalled feed', providerFailed(stalled), 'feedDown'],
    ["the oracle's own error", providerFailed(oracleError), 'feedDown'],
    ['a provider that says nothing', providerFailed('0x'), 'feedDown'],
    ['a bid above the ask', poolError('BidGreaterThanAsk'), 'quoteRefused'],
    ['a bid of zero', poolError('BidIsZero'), 'quoteRefused'],
    ['a reference outside of bid and ask', referenceOutOfRange, 'quoteRefused'],
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
