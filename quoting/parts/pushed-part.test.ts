import { serializeTransaction } from 'viem';
import { describe, expect, test } from 'vitest';
import { pushedPart, readPartMessage } from './pushed-part.ts';

test('other messages are of no known part', () => {
  const others = [null, 'x', {}, [], { number: -1 }, { number: '10' }, { number: `0x${'f'.repeat(17)}` }];
  for (const other of [...others, { index: 1, metadata: {} }, { index: -1, metadata: { block_number: 10 } }])
    expect(readPartMessage(other)).toBeUndefined();
});

const payload = (index: unknown, changes: object = {}) => ({
  payload_id: '0x01',
  index,
  diff: { transactions: [] },
  metadata: { block_number: 10 },
  ...changes,
});
const block = (changes: object = {}) => ({ number: '0xa', parentHash: '0x09', transactions: ['0x01'], ...changes });

describe('a message in the form of a sequencer', () => {
  const partOf = (message: object, before?: object) => {
    const { blockNumber, index } = readPartMessage(message, before && readPartMessage(before)) ?? {};
    return [blockNumber, index];
  };
  const base = { block_number: '0xa', parent_hash: '0x09', timestamp: '0x3fc' };

  test.each<[string, object]>([
    ['has further fields', { static: {}, diff: { transactions: [], receipts_root: '0x02', withdrawals: [] } }],
    ['has maps', { metadata: { block_number: 10, receipts: { '0x01': {} }, new_account_balances: { '0x02': '0x3' } } }],
    ['has numbers in hex', { index: '0x4', metadata: { block_number: '0xa' } }],
    ['names the part before', { metadata: { block_number: 10, prev_flashblock_id: '10-3' } }],
    ['names it in another way', { metadata: { block_number: 10, prev_flashblock_id: null } }],
    ['shows nothing that happened', { diff: undefined }],
  ])('%s', (_, changes) => {
    expect(partOf(payload(4, changes))).toEqual([10n, 4]);
  });

  test('has its block in header fields at least, or is of the payload before', () => {
    const first = payload(0, { base, metadata: undefined });
    expect(partOf(first)).toEqual([10n, 0]);
    const next = payload(1, { metadata: undefined });
    expect([partOf(next, first), partOf(next)]).toEqual([
      [10n, 1],
      [undefined, undefined],
    ]);
    expect(partOf({ ...next, payload_id: '0x02' }, first)).toEqual([undefined, undefined]);
  });

  test('is of no known part where it contradicts itself', () => {
    expect(readPartMessage(payload(0, { base, metadata: { block_number: 11 } }))).toBeUndefined();
  });
});

/** Whether the second message shows that nothing happened since the first. */
function isUnchanged(one: object, other: object): boolean {
  const before = readPartMessage(one);
  const message = readPartMessage(other, before);
  if (!message) throw new Error('no part');
  return pushedPart(before, message).isUnchanged;
}

const SIGNATURE = { r: `0x${'1'.repeat(64)}`, s: `0x${'2'.repeat(64)}`, yParity: 0 } as const;
const signed = (gas: bigint, data: `0x${string}` = '0x') =>
  serializeTransaction({ type: 'eip1559', chainId: 1, to: `0x${'3'.repeat(40)}`, value: 1n, gas, data }, SIGNATURE);
const [TRANSFER, CALL] = [signed(21_000n), signed(21_001n)];
const named = (previous: string) => ({ metadata: { block_number: 10, prev_flashblock_id: previous } });
const inBlock = (hash: string, changes: object = {}) => ({ hash, gas: '0x5208', input: '0x', ...changes });

test.each<[string, boolean, object, object]>([
  ['the next part has no transactions', true, payload(3), payload(4)],
  ['it has one that cannot run code', true, payload(3), payload(4, { diff: { transactions: [TRANSFER] } })],
  ['it has one that can', false, payload(3), payload(4, { diff: { transactions: [TRANSFER, CALL] } })],
  ['it has one with data', false, payload(3), payload(4, { diff: { transactions: [signed(21_000n, '0x01')] } })],
  ['it has one of another type', false, payload(3), payload(4, { diff: { transactions: ['0x7ec0'] } })],
  ['one of it cannot be read', false, payload(3), payload(4, { diff: { transactions: [TRANSFER, '0x02zz'] } })],
  ['it does not show any', false, payload(3), payload(4, { diff: {} })],
  ['what it shows is something else', false, payload(3), payload(4, { diff: { transactions: 'none' } })],
  ['it says that it comes next', true, payload(3), payload(4, named('10-3'))],
  ['it says that it comes after another one', false, payload(3), payload(4, named('10-2'))],
  ['a part between was missed', false, payload(3), payload(5)],
  ['it comes once more', false, payload(3), payload(3)],
  ['it is of another payload', false, payload(3), payload(4, { payload_id: '0x02' })],
  ['it does not show its payload', false, payload(3), payload(4, { payload_id: undefined })],
  ['it is of the next block', false, payload(3), payload(4, { metadata: { block_number: 11 } })],
  ['the block has the same transactions', true, block(), block()],
  ['it has more', false, block(), block({ transactions: ['0x01', '0x02'] })],
  ['it has one more that cannot run code', true, block(), block({ transactions: ['0x01', inBlock('0x02')] })],
  ['it has one more with gas', false, block(), block({ transactions: ['0x01', inBlock('0x02', { gas: '0x5209' })] })],
  ['it has one more with data', false, block(), block({ transactions: ['0x01', inBlock('0x02', { input: '0x3' })] })],
  ['it has others', false, block(), block({ transactions: ['0x02'] })],
  ['it has fewer', false, block(), block({ transactions: [] })],
  [
    'transactions are of another partial block',
    true,
    block({ transactions: [inBlock('0x01', { gas: '0x9', blockHash: '0x4' })] }),
    block({ transactions: [inBlock('0x01', { gas: '0x9', blockHash: '0x5' })] }),
  ],
  ['it is on another parent', false, block(), block({ parentHash: '0x08' })],
  ['it is a header', false, block({ transactions: undefined }), block({ transactions: undefined })],
  ['the one before is a header', false, block({ transactions: undefined }), block()],
  ['the forms differ', false, payload(3), block({ parentHash: '0x01', transactions: [] })],
])('where %s, nothing happened: %s', (_, expected, one, other) => {
  expect(isUnchanged(one, other)).toBe(expected);
});

test('the first message of a connection shows nothing of what was before', () => {
  const message = readPartMessage(payload(0));
  expect(message && pushedPart(undefined, message).isUnchanged).toBe(false);
});
