import fc from 'fast-check';
import { zeroAddress } from 'viem';
import { expect, test } from 'vitest';
import type { Words } from '../../chain/pending-state.ts';
import { stringifyJson } from '../../runtime/json.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { BOUNDS, checkBounds, FrameError } from './frame.ts';
import {
  anyVenues,
  blockNumber,
  PLAIN,
  relayerPush,
  relayerResult,
  spelling,
  spellWords,
  word,
  wordsOf,
} from './frames.fixture.ts';
import { parseRelayerFrame } from './relayer-frame.ts';

const address = fc.bigInt(1n, 2n ** 160n - 1n).map((n): `0x${string}` => `0x${n.toString(16).padStart(40, '0')}`);
const asResult = (result: unknown) => stringifyJson({ jsonrpc: '2.0', id: 1, result });
const codeOf = (text: string) => {
  try {
    parseRelayerFrame(text);
  } catch (error) {
    return (error as FrameError).code;
  }
};
const some = { [`0x${'28'.repeat(20)}`]: { '0x1': '0x2' } };
const router = `0x${'e7'.repeat(20)}`;

test('snapshots come back as they were written, as the result of a call and as notifications', () => {
  fc.assert(
    fc.property(
      blockNumber,
      anyVenues,
      spelling,
      fc.constantFrom(asResult, relayerPush),
      (number, venues, how, wrap) => {
        const frame = parseRelayerFrame(wrap(relayerResult(number, venues, how)));
        const hasWords = venues.values().some((words) => words.size > 0);
        const expected = hasWords ? venues : new Map();
        expect(frame).toEqual({ blockNumber: number, timestamp: null, venues: expected, isComplete: true });
      },
    ),
  );
});

test('without venues, all words are of the zero address', () => {
  const listed = fc.constantFrom(undefined, null, []);
  fc.assert(
    fc.property(wordsOf(address, word), listed, (words: Words, venues) => {
      const frame = parseRelayerFrame(relayerPush({ blockNumber: 5, overrides: spellWords(words, PLAIN), venues }));
      expect(frame?.venues).toEqual(words.size === 0 ? new Map() : new Map([[zeroAddress, words]]));
    }),
  );
});

test.each([{}, null])('with %j as overrides nothing has a live quote', (overrides) => {
  const frame = parseRelayerFrame(
    relayerPush({ blockNumber: '0x5', overrides, venues: [{ router, overrides: some }] }),
  );
  expect(frame).toEqual({ blockNumber: 5n, timestamp: null, venues: new Map(), isComplete: true });
});

test('the answer to a subscription is not a frame', () => {
  expect(parseRelayerFrame(asResult('0x9'))).toBeUndefined();
});

test.each([
  ['no overrides', { blockNumber: 5 }],
  ['no block number', { overrides: some }],
  ['venues that are no list', { blockNumber: 5, overrides: some, venues: {} }],
  ['a venue without router', { blockNumber: 5, overrides: some, venues: [{ overrides: some }] }],
  [
    'a router twice',
    { blockNumber: 5, overrides: some, venues: [{ router }, { router: router.toUpperCase().replace('X', 'x') }] },
  ],
  ['a word that is a number', { blockNumber: 5, overrides: { [router]: { '0x1': 1 } } }],
])('a snapshot with %s is malformed', (_what, result) => {
  expect([codeOf(relayerPush(result)), codeOf(asResult(result))]).toEqual(['malformed', 'malformed']);
});

test('a refusal is not a malformed snapshot, and snapshots have bounds', () => {
  expect(codeOf('{"id":1,"error":{"code":-32000,"message":"propamm engine not ready"}}')).toBe('refused');
  const venues = Array.from({ length: BOUNDS.venues + 1 }, (_, n) => ({ router: `0x${String(n).padStart(40, '0')}` }));
  expect(codeOf(relayerPush({ blockNumber: 5, overrides: some, venues: venues.slice(1) }))).toBeUndefined();
  expect(codeOf(relayerPush({ blockNumber: 5, overrides: some, venues }))).toBe('oversized');
});

const fields = fc.dictionary(fc.constantFrom('blockNumber', 'overrides', 'venues', 'params', 'result'), fc.jsonValue());
const venue = fc.record({ router: fc.oneof(fc.constant(router), fc.jsonValue()), overrides: fc.jsonValue() });
const almost = fc.record({ blockNumber: fc.nat(), overrides: fc.constantFrom(some, {}), venues: fc.array(venue) });

test('any text gives a snapshot within the bounds, nothing, or the documented error', () => {
  const texts = fc.oneof(
    fields.map(relayerPush),
    fields.map(stringifyJson),
    almost.map(asResult),
    fc.json(),
    fc.string(),
  );
  fc.assert(
    fc.property(texts, (text) => {
      try {
        const frame = parseRelayerFrame(text);
        if (frame) checkBounds(frame.venues);
      } catch (error) {
        expect(error).toBeInstanceOf(FrameError);
      }
    }),
    { numRuns: runs(2_000) },
  );
});
