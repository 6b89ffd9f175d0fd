import { encodeAbiParameters, encodeErrorResult, type Hex, numberToHex, zeroHash } from 'viem';
import { expect, test } from 'vitest';
import { poolErrors } from '../../devnet/protocol-abi.ts';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';
import { layoutAdapter } from '../../protocol/layouts/adapters.ts';
import { readPoolPrice } from './pool-price.ts';

const layout = layoutAdapter('flat');

const done = (data: Hex): CallResult => ({ success: true, data });
const reverted = (data: Hex): CallResult => ({ success: false, data });

const uint128s = [{ type: 'uint128' }, { type: 'uint128' }] as const;
const priced = done(encodeAbiParameters(uint128s, [7n, 9n]));
const down = reverted(encodeErrorResult({ abi: poolErrors, errorName: 'PriceProviderFailed', args: ['0x'] }));
const crossed = reverted(encodeErrorResult({ abi: poolErrors, errorName: 'BidGreaterThanAsk' }));

/** The head's words; the pause level is the lowest byte of the first. */
const pausedAt = (level: number): CallResult => {
  const words = [numberToHex(level, { size: 32 }), zeroHash, zeroHash, zeroHash];
  return done(encodeAbiParameters([{ type: 'bytes32[]' }], [words]));
};

test.each([
  ['a price and no pause', [priced, pausedAt(0)], 'healthy'],
  ['a price and a pause by the curator', [priced, pausedAt(1)], 'pool_paused'],
  ['a price and a pause by the protocol', [priced, pausedAt(2)], 'pool_paused'],
  ['a down feed', [down, pausedAt(0)], 'feed_down'],
  ['a down feed and a pause', [down, pausedAt(2)], 'feed_down'],
  ['a quote that the pool refuses', [crossed, pausedAt(0)], 'pool_refused'],
  ['a quote that the pool refuses, and a pause', [crossed, pausedAt(1)], 'pool_refused'],
  ['a revert without data', [reverted('0x'), pausedAt(0)], 'unknown'],
  ['nothing, as an address without code answers', [done('0x'), done('0x')], 'unknown'],
  ['a price, but no state', [priced, reverted('0x')], 'unknown'],
  ['a price, but half a state', [priced, done('0x00')], 'unknown'],
  ['no answer at all', [], 'unknown'],
] as const)('%s', (_what, results, status) => {
  const isRead = results[0] === priced;
  expect(readPoolPrice(results, layout, { bids: false, asks: true })).toEqual({
    status,
    sellX64: isRead ? 7n : null,
    buyX64: isRead ? 9n : null,
  });
});

test('what closes both sides refuses, after what says more', () => {
  const statusOf = (results: readonly CallResult[]) =>
    readPoolPrice(results, layout, { bids: true, asks: true }).status;
  expect(statusOf([priced, pausedAt(0)])).toBe('pool_refused');
  expect(statusOf([priced, pausedAt(1)])).toBe('pool_paused');
  expect(statusOf([down, pausedAt(0)])).toBe('feed_down');
});
