import { encodeErrorResult, type Hex, parseAbi } from 'viem';
import { describe, expect, it } from 'vitest';
import { poolErrors } from '../devnet/abi.ts';
import { decodePriceFailure, quoteStatus, type StatusFacts } from './quote-status.ts';

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
const poolError = (errorName: 'BidGreaterThanAsk' | 'BidIsZero' | 'PoolPaused') =>
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

describe('quoteStatus', () => {
  const healthy: StatusFacts = { price: 'read', pauseLevel: 0, bidsRefused: false, asksRefused: false };

  it.each([
    ['a price, no pause, no refusal', {}, 'healthy'],
    ['one side refused', { bidsRefused: true }, 'healthy'],
    ['the other side refused', { asksRefused: true }, 'healthy'],
    ['both sides refused', { bidsRefused: true, asksRefused: true }, 'pool_refused'],
    ['a pause by the admin', { pauseLevel: 1 }, 'pool_paused'],
    ['a pause by the protocol', { pauseLevel: 2 }, 'pool_paused'],
    ['a pause and both sides refused', { pauseLevel: 1, bidsRefused: true, asksRefused: true }, 'pool_paused'],
    ['a quote that no pool takes', { price: 'quoteRefused' }, 'pool_refused'],
    ['such a quote and a pause', { price: 'quoteRefused', pauseLevel: 1 }, 'pool_refused'],
    ['a down feed', { price: 'feedDown' }, 'feed_down'],
    ['a down feed and a pause', { price: 'feedDown', pauseLevel: 2 }, 'feed_down'],
    ['a price that was not read', { price: 'unread' }, 'internal_error'],
    ['a price call that ended in nothing known', { price: 'unexplained' }, 'unknown'],
    ['a pause level that could not be read', { pauseLevel: null }, 'unknown'],
  ] as const)('of %s', (_, facts, status) => {
    expect(quoteStatus({ ...healthy, ...facts })).toBe(status);
  });
});
