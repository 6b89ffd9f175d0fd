import { expect, test } from 'vitest';
import { pushedPart, readPartMessage } from './pushed-part.ts';

test('other messages are of no known part', () => {
  for (const other of [null, 'x', {}, { number: 10 }, { index: 1, metadata: {} }, { number: `0x${'f'.repeat(17)}` }])
    expect(readPartMessage(other)).toBeUndefined();
});

const payload = (index: number, changes: object = {}) => ({
  payload_id: '0x01',
  index,
  diff: { transactions: [] },
  metadata: { block_number: 10 },
  ...changes,
});
const block = (changes: object = {}) => ({ number: '0xa', parentHash: '0x09', transactions: ['0x01'], ...changes });

/** Whether the second message shows that nothing happened since the first. */
function isUnchanged(one: object, other: object): boolean {
  const [before, message] = [readPartMessage(one), readPartMessage(other)];
  if (!message) throw new Error('no part');
  return pushedPart(before, message).isUnchanged;
}

test.each<[string, boolean, object, object]>([
  ['the next part has no transactions', true, payload(3), payload(4)],
  ['it has one', false, payload(3), payload(4, { diff: { transactions: ['0x02'] } })],
  ['it does not show any', false, payload(3), payload(4, { diff: {} })],
  ['what it shows is something else', false, payload(3), payload(4, { diff: { transactions: 'none' } })],
  ['a part between was missed', false, payload(3), payload(5)],
  ['it is of another payload', false, payload(3), payload(4, { payload_id: '0x02' })],
  ['it does not show its payload', false, payload(3), payload(4, { payload_id: undefined })],
  ['it is of the next block', false, payload(3), payload(4, { metadata: { block_number: 11 } })],
  ['the block has the same transactions', true, block(), block()],
  ['it has more', false, block(), block({ transactions: ['0x01', '0x02'] })],
  ['it has others', false, block(), block({ transactions: ['0x02'] })],
  ['it is on another parent', false, block(), block({ parentHash: '0x08' })],
  ['it is a header', false, block({ transactions: undefined }), block({ transactions: undefined })],
  ['the forms differ', false, payload(3), block({ parentHash: '0x01', transactions: [] })],
])('where %s, nothing happened: %s', (_, expected, one, other) => {
  expect(isUnchanged(one, other)).toBe(expected);
});

test('the first message of a connection shows nothing of what was before', () => {
  const message = readPartMessage(payload(0));
  expect(message && pushedPart(undefined, message).isUnchanged).toBe(false);
});
