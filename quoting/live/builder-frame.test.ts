import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringifyJson } from '../../runtime/json.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { parseBuilderFrame } from './builder-frame.ts';
import { BOUNDS, checkBounds, FrameError } from './frame.ts';
import { anyVenues, blockNumber, builderText, spelling } from './frames.fixture.ts';

const ETHEREUM = 1;
const [venue, account] = [`0x${'e7'.repeat(20)}`, `0x${'28'.repeat(20)}`];
const padded = (digits: string) => `0x${digits.padStart(64, '0')}`;
const codeOf = (text: string) => {
  try {
    parseBuilderFrame(text, ETHEREUM);
  } catch (error) {
    return (error as FrameError).code;
  }
};
/** A frame with these fields, or with this account. */
const frameOf = (fields: Record<string, unknown>) => stringifyJson({ blockNumber: 5, ...fields });
const withAccount = (value: unknown) => frameOf({ [venue]: { stateOverride: { [account]: value } } });

test('the documented frame gives its block, the time of its slot and its words', () => {
  const text = `{"slot":14984765,"blockNumber":25345763,"timestamp":1781801564588230787,
    "${venue}":{"stateOverride":{"${account}":{"stateDiff":{"${padded('1')}":"${padded('ab')}"},"balance":"0x0","nonce":"0x1"}}}}`;
  expect(parseBuilderFrame(text, ETHEREUM)).toEqual({
    blockNumber: 25_345_763n,
    timestamp: 1_786_641_203n,
    venues: new Map([[venue, new Map([[account, new Map([[padded('1'), padded('ab')]])]])]]),
    isComplete: false,
  });
});

test('frames come back as they were written, in each spelling, bare or as the result of a call', () => {
  const slots = fc.option(fc.oneof(fc.bigInt(0n, 2n ** 40n), blockNumber), { nil: undefined });
  fc.assert(
    fc.property(blockNumber, anyVenues, spelling, slots, fc.boolean(), (number, venues, how, slot, isResult) => {
      const text = builderText(number, venues, how, slot);
      const frame = parseBuilderFrame(isResult ? `{"jsonrpc":"2.0","id":1,"result":${text}}` : text, ETHEREUM);
      const timestamp = slot === undefined ? null : 1_606_824_023n + 12n * slot;
      expect(frame).toEqual({ blockNumber: number, timestamp, venues, isComplete: false });
    }),
  );
});

test('a slot says no time on other chains, whatever it is', () => {
  expect(parseBuilderFrame(frameOf({ slot: 7 }), 56).timestamp).toBeNull();
  expect(parseBuilderFrame(frameOf({ slot: 'seven' }), 56).timestamp).toBeNull();
});

test.each([
  ['no JSON', '<html>'],
  ['no object', '[5]'],
  ['no block number', stringifyJson({ slot: 1 })],
  ['a decimal string as block number', frameOf({ blockNumber: '5' })],
  ['a fraction as block number', frameOf({ blockNumber: 5.5 })],
  ['a negative block number', frameOf({ blockNumber: -5 })],
  ['a block number of 65 bits', frameOf({ blockNumber: '0x10000000000000000' })],
  ['a block number that readers of JSON round', frameOf({ blockNumber: 2n ** 53n })],
  ['a slot that is no number', frameOf({ slot: 'seven' })],
  ['a venue without overrides', frameOf({ [venue]: {} })],
  ['a venue that is a list', frameOf({ [venue]: [] })],
  ['an account that is a text', withAccount('0x1')],
  [
    'an account that is no address',
    frameOf({ [venue]: { stateOverride: { '0x12': { stateDiff: { '0x1': '0x1' } } } } }),
  ],
  ['a word of 33 bytes', withAccount({ stateDiff: { '0x1': `0x${'1'.repeat(65)}` } })],
  ['a word without digits', withAccount({ stateDiff: { '0x1': '0x' } })],
  ['a word that is a number', withAccount({ stateDiff: { '0x1': 1 } })],
  ['a slot without 0x', withAccount({ stateDiff: { '1': '0x1' } })],
  ['one slot in two spellings', withAccount({ stateDiff: { '0x1': '0x1', '0x01': '0x2' } })],
  ['the answer to a subscription', '{"jsonrpc":"2.0","id":1,"result":"0x1"}'],
  ['100,000 nested lists', '['.repeat(100_000)],
])('a message with %s is malformed', (_what, text) => {
  expect(codeOf(text)).toBe('malformed');
});

test('an error of JSON-RPC is a refusal', () => {
  expect(codeOf('{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}')).toBe('refused');
});

test('an account without words is left out, and a venue may have none', () => {
  const empty = new Map([[venue, new Map()]]);
  for (const value of [{ balance: '0x1' }, { stateDiff: null }, { stateDiff: {} }])
    expect(parseBuilderFrame(withAccount(value), ETHEREUM).venues).toEqual(empty);
  expect(parseBuilderFrame(frameOf({ [venue]: { stateOverride: {} } }), ETHEREUM).venues).toEqual(empty);
});

const numbered = (count: number, digits: number, value: unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`0x${n.toString(16).padStart(digits, '0')}`, value]));
const oneWord = { stateDiff: { '0x1': '0x1' } };
const SIZES = [
  ['venues', BOUNDS.venues, (count: number) => frameOf(numbered(count, 40, { stateOverride: {} }))],
  [
    'accounts',
    BOUNDS.accounts,
    (count: number) => frameOf({ [venue]: { stateOverride: numbered(count, 40, oneWord) } }),
  ],
  ['words', BOUNDS.words, (count: number) => withAccount({ stateDiff: numbered(count, 8, '0x1') })],
  ['bytes', BOUNDS.bytes, (count: number) => `${frameOf({})}`.padEnd(count)],
] as const;

test.each(SIZES)('a frame has as many %s as are allowed, and no more', (_what, most, textOf) => {
  expect(codeOf(textOf(most))).toBeUndefined();
  expect(codeOf(textOf(most + 1))).toBe('oversized');
});

test('10,000 accounts are too many', () => {
  expect(codeOf(frameOf({ [venue]: { stateOverride: numbered(10_000, 40, oneWord) } }))).toBe('oversized');
});

/** Frames with a piece of their text replaced. */
const damaged = fc
  .tuple(blockNumber, anyVenues, spelling, fc.nat(), fc.nat({ max: 20 }), fc.oneof(fc.string(), fc.json()))
  .map(([number, venues, how, place, length, other]) => {
    const text = builderText(number, venues, how, 5n);
    const at = place % text.length;
    return text.slice(0, at) + other + text.slice(at + length);
  });
const keyed = fc
  .dictionary(fc.constantFrom(venue, 'blockNumber', 'slot', 'result', 'params', 'error', '__proto__'), fc.jsonValue())
  .map((value) => JSON.stringify(value));
const bytes = fc.uint8Array({ maxLength: 200 }).map((data) => Buffer.from(data).toString());

test('any text gives a frame within the bounds, or the documented error', () => {
  const codes = new Set<string>();
  fc.assert(
    fc.property(fc.oneof(damaged, keyed, bytes, fc.json(), fc.string({ unit: 'binary' })), (text) => {
      try {
        checkBounds(parseBuilderFrame(text, ETHEREUM).venues);
        codes.add('none');
      } catch (error) {
        expect(error).toBeInstanceOf(FrameError);
        codes.add((error as FrameError).code);
      }
    }),
    { numRuns: runs(2_000) },
  );
  expect([...codes].sort()).toEqual(['malformed', 'none', 'refused']);
});
