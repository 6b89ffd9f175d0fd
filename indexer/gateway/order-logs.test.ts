import fc from 'fast-check';
import { expect, test } from 'vitest';
import { orderLogs } from './order-logs.ts';

const logOf = (block: number, index: number) => ({
  address: '0x01',
  topics: ['0x02'],
  data: '0x',
  blockHash: `0xb${block}`,
  blockNumber: `0x${block.toString(16)}`,
  transactionHash: `0xc${block}`,
  logIndex: `0x${index.toString(16)}`,
  removed: false,
});

const inOrder = [logOf(2, 0), logOf(2, 1), logOf(10, 0), logOf(16, 9), logOf(16, 10)];

test('logs come once each, in the order of the chain, whatever order and number a node gives', () =>
  fc.assert(
    fc.property(fc.shuffledSubarray([...inOrder, ...inOrder], { minLength: 1 }), (given) => {
      const expected = inOrder.filter((log) => given.includes(log));
      expect(orderLogs({ result: given })).toEqual({ result: expected });
    }),
  ));

test('what is in order, and what are no logs, stays the same', () => {
  for (const result of [inOrder, [], null, 'text', [null, 1], [{ blockNumber: '0x2' }, { blockNumber: '0x1' }]]) {
    const answer = { result };
    expect(orderLogs(answer)).toBe(answer);
  }
});
