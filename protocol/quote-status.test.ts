import { describe, expect, it } from 'vitest';
import { quoteStatus, type StatusFacts } from './quote-status.ts';

describe('quoteStatus', () => {
  const healthy: StatusFacts = { price: 'read', pauseLevel: 0, bidsRejected: false, asksRejected: false };

  it.each([
    ['a price, no pause, no refusal', {}, 'healthy'],
    ['one side refused', { bidsRejected: true }, 'healthy'],
    ['the other side refused', { asksRejected: true }, 'healthy'],
    ['both sides refused', { bidsRejected: true, asksRejected: true }, 'pool_refused'],
    ['a pause by the admin', { pauseLevel: 1 }, 'pool_paused'],
    ['a pause by the protocol', { pauseLevel: 2 }, 'pool_paused'],
    ['a pause and both sides refused', { pauseLevel: 1, bidsRejected: true, asksRejected: true }, 'pool_paused'],
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
