import fc from 'fast-check';
import { expect, test } from 'vitest';
import { stringifyJson } from '../../runtime/json.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { builderFrames, parseBuilderFrame } from './builder-frame.ts';
import { BOUNDS, checkBounds, FrameError } from './frame.ts';
import { anyVenues, blockNumber, builderText, spelling } from './frames.fixture.ts';
import { builderVenues, fieldsOf, meaningOf } from './mixed-frames.fixture.ts';

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

test('the documented frame gives its block, the time of its slot and its overrides', () => {
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
  expect(parseBuilderFrame(frameOf({ slot: 'seven' }), 56)).toMatchObject({ timestamp: null, skipped: undefined });
});

test.each([
  ['no JSON', '<html>'],
  ['no object', '[5]'],
  ['no block number', stringifyJson({ slot: 1 })],
  ['a fraction as block number', frameOf({ blockNumber: 5.5 })],
  ['a negative block number', frameOf({ blockNumber: -5 })],
  ['a block number of 65 bits', frameOf({ blockNumber: '0x10000000000000000' })],
  ['a block number of 65 bits in decimals', frameOf({ blockNumber: '18446744073709551616' })],
  ['a block number that readers of JSON round', frameOf({ blockNumber: 2n ** 53n })],
  ['the answer to a subscription', '{"jsonrpc":"2.0","id":1,"result":"0x1"}'],
  ['100,000 nested lists', '['.repeat(100_000)],
])('a message with %s is malformed', (_what, text) => {
  expect(codeOf(text)).toBe('malformed');
});

const good = { stateOverride: { [account]: { stateDiff: { '0x1': '0x1' } } } };
const goodVenues = new Map([[venue, new Map([[account, new Map([[padded('1'), padded('1')]])]])]]);
const other = `0x${'29'.repeat(20)}`;
const withOther = (value: unknown) => frameOf({ [other]: value, [venue]: good });
const withAccounts = (accounts: Record<string, unknown>) =>
  frameOf({ [venue]: { stateOverride: { ...accounts, ...good.stateOverride } } });
const withWord = (slot: string, word: unknown) => withAccount({ stateDiff: { [slot]: word, '0x1': '0x1' } });

test.each([
  ['venue', ...[{}, null, [], 'x', 7, { stateOverride: null }, { stateOverride: [] }].map(withOther)],
  [
    'account',
    ...[null, [], '0x1', { stateDiff: [] }, { stateDiff: '0x1' }].map((bad) => withAccounts({ [other]: bad })),
  ],
  ['account', withAccounts({ '0x12': { stateDiff: { '0x1': '0x1' } } }), withAccounts({ maker: {} })],
  [
    'word',
    ...['', '0x', null, 7, '1', `0x${'1'.repeat(65)}`, `0x${'1'.repeat(66)}`].map((bad) => withWord('0x2', bad)),
  ],
  ['word', ...['', '0x', '2', `0x${'1'.repeat(65)}`, `0x${'1'.repeat(66)}`].map((bad) => withWord(bad, '0x2'))],
  ['slot', ...['seven', -1, 5.5, {}].map((slot) => frameOf({ slot, [venue]: good }))],
])('a malformed %s is skipped and counted, and all else counts', (entry, ...texts) => {
  for (const text of texts) {
    const frame = parseBuilderFrame(text, ETHEREUM);
    expect(frame).toEqual({
      blockNumber: 5n,
      timestamp: null,
      venues: goodVenues,
      isComplete: false,
      skipped: new Map([[entry, 1]]),
    });
  }
});

test('of two spellings of a slot the last counts, and two spellings of an address are one', () => {
  const venues = (text: string) => parseBuilderFrame(text, ETHEREUM).venues;
  expect(venues(withAccount({ stateDiff: { '0x01': '0x2', '0x1': '0x1' } }))).toEqual(goodVenues);
  expect(venues(withAccount({ stateDiff: { [padded('1')]: '0x2', '0x1': '0x1' } }))).toEqual(goodVenues);
  const upper = `0x${venue.slice(2).toUpperCase()}`;
  expect(venues(frameOf({ [upper]: { stateOverride: {} }, [venue]: good }))).toEqual(goodVenues);
  expect(venues(frameOf({ [venue]: good, [upper]: null }))).toEqual(goodVenues);
});

test('numbers may be decimal texts', () => {
  const { blockNumber, timestamp } = parseBuilderFrame(
    frameOf({ blockNumber: '25345763', slot: '14984765' }),
    ETHEREUM,
  );
  expect([blockNumber, timestamp]).toEqual([25_345_763n, 1_786_641_203n]);
  expect(parseBuilderFrame(frameOf({ blockNumber: null, block_number: '7' }), ETHEREUM).blockNumber).toBe(7n);
});

const spelledNumber = (number: bigint) => fc.constantFrom(`0x${number.toString(16)}`, String(number), Number(number));

test('any mixture of good and malformed entries gives exactly the good ones', () => {
  const number = fc.bigInt(0n, 2n ** 50n).chain((block) => spelledNumber(block).map((value) => ({ block, value })));
  const slot = fc.oneof(
    number,
    fc.constantFrom('x', '', {}, -1).map((value) => ({ block: null, value })),
  );
  const seen = new Set<string>();
  fc.assert(
    fc.property(builderVenues, number, slot, fc.boolean(), (entries, { block, value }, of, isResult) => {
      const fields = { ...fieldsOf(entries), blockNumber: value, slot: of.value };
      const { venues, counts } = meaningOf(entries);
      if (of.block === null) counts.set('slot', 1);
      for (const entry of [...counts.keys(), ...(venues.size > 0 ? ['good'] : [])]) seen.add(entry);
      expect(parseBuilderFrame(stringifyJson(isResult ? { id: 1, result: fields } : fields), ETHEREUM)).toEqual({
        blockNumber: block,
        timestamp: of.block === null ? null : 1_606_824_023n + 12n * of.block,
        venues,
        isComplete: false,
        skipped: counts.size > 0 ? counts : undefined,
      });
    }),
    { numRuns: runs(300) },
  );
  expect([...seen].sort()).toEqual(['account', 'good', 'slot', 'venue', 'word']);
});

test('an error of JSON-RPC is a refusal', () => {
  expect(codeOf('{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}')).toBe('refused');
});

test('an account without overrides is left out, and a venue may have none', () => {
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
    (count: number) => frameOf({ [other]: { stateOverride: numbered(count - 1, 40, oneWord) }, [venue]: good }),
  ],
  [
    'overrides',
    BOUNDS.overrides,
    (count: number) => {
      const stateDiff = numbered(count - 1, 8, '0x1');
      return frameOf({ [other]: { stateOverride: { [account]: { stateDiff } } }, [venue]: good });
    },
  ],
] as const;

test.each(SIZES)('of a frame with more %s than are allowed, the largest venue is skipped', (_what, most, textOf) => {
  const all = parseBuilderFrame(textOf(most), ETHEREUM);
  const rest = parseBuilderFrame(textOf(most + 1), ETHEREUM);
  expect([all.skipped, rest.skipped]).toEqual([undefined, new Map([['oversized', 1]])]);
  expect(rest.venues.size).toBe(_what === 'venues' ? most : 1);
  if (_what !== 'venues') expect(rest.venues).toEqual(goodVenues);
  expect(checkBounds(all.venues)).toBe(all.venues);
});

test('a venue beyond a bound costs no venue that is larger than it', () => {
  const manyAccounts = { stateOverride: numbered(BOUNDS.accounts + 1, 40, oneWord) };
  const manyWords = { stateOverride: { [account]: { stateDiff: numbered(BOUNDS.accounts + 2, 8, '0x1') } } };
  const { venues, skipped } = parseBuilderFrame(frameOf({ [other]: manyAccounts, [venue]: manyWords }), ETHEREUM);
  expect([[...venues.keys()], skipped]).toEqual([[venue], new Map([['oversized', 1]])]);
});

test('a frame has as many bytes as are allowed, and no more', () => {
  expect(codeOf(frameOf({}).padEnd(BOUNDS.bytes))).toBeUndefined();
  expect(codeOf(frameOf({}).padEnd(BOUNDS.bytes + 1))).toBe('oversized');
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

test('of a source, what repeats the frame before is that frame, and nothing else is', () => {
  const read = builderFrames();
  const at = (timestamp: string, blockNumber = 5, word = 'ab') =>
    `{"slot":14984765,"blockNumber":${blockNumber},"timestamp":${timestamp},
      "${venue}":{"stateOverride":{"${account}":{"stateDiff":{"${padded('1')}":"${padded(word)}"}}}}}`;
  const first = read(at('1781801564588230787'), ETHEREUM);
  expect(read(at('1781801564688230787'), ETHEREUM)).toBe(first);
  const others = [at('1781801564788230787', 6), at('1781801564888230787', 6, 'cd'), at('1', 6, 'cd'), at('0', 6, 'cd')];
  for (const text of others) expect(read(text, ETHEREUM)).toEqual(parseBuilderFrame(text, ETHEREUM));
  expect(() => read(at('01'), ETHEREUM)).toThrow(FrameError);
  expect(() => read(at('1', 6, 'cd').slice(0, -1), ETHEREUM)).toThrow(FrameError);
  expect(read(at('2', 6, 'cd'), ETHEREUM)).toEqual(parseBuilderFrame(others[1] ?? '', ETHEREUM));
});
