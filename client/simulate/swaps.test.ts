import { expect, test } from 'vitest';
import { simulateExactIn } from './swaps.ts';

test('a live quote of a chain that gives no overrides says what to request in its place', async () => {
  const node = { request: () => Promise.reject(new Error('not called')) };
  const basis = { kind: 'live', blockNumber: 5, source: { kind: 'preconfirmed', part: 3 } } as const;
  const quote = { poolAddress: `0x${'11'.repeat(20)}`, basis, overrides: null };
  const expected = expect.objectContaining({ name: 'TypeError', message: expect.stringContaining('basis=committed') });
  await expect(simulateExactIn(node, { quote, side: 'bids' }, 1n)).rejects.toThrow(expected);
});
