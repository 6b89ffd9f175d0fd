import fc from 'fast-check';
import { zeroAddress } from 'viem';
import { expect, test } from 'vitest';
import type { StateOverrides } from '../../chain/pending-state.ts';
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
  spellOverrides,
  stateOverridesOf,
  word,
} from './frames.fixture.ts';
import { meaningOf, overridesOf, RELAYER, relayerVenues } from './mixed-frames.fixture.ts';
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
        const hasOverrides = venues.values().some((overrides) => overrides.size > 0);
        const expected = hasOverrides ? venues : new Map();
        expect(frame).toEqual({ blockNumber: number, timestamp: null, venues: expected, isComplete: true });
      },
    ),
  );
});

test('without venues, all overrides are of the zero address', () => {
  const listed = fc.constantFrom(undefined, null, []);
  fc.assert(
    fc.property(stateOverridesOf(address, word), listed, (overrides: StateOverrides, venues) => {
      const frame = parseRelayerFrame(
        relayerPush({ blockNumber: 5, overrides: spellOverrides(overrides, PLAIN), venues }),
      );
      expect(frame?.venues).toEqual(overrides.size === 0 ? new Map() : new Map([[zeroAddress, overrides]]));
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
  ['no block number', { overrides: some }],
  ['a block number that is a text', { blockNumber: 'five', overrides: some }],
  ['neither overrides nor venues', { blockNumber: 5 }],
  ['malformed overrides and venues', { blockNumber: 5, overrides: [], venues: [null, { overrides: some }] }],
])('a snapshot with %s is malformed', (_what, result) => {
  expect([codeOf(relayerPush(result)), codeOf(asResult(result))]).toEqual(['malformed', 'malformed']);
});

const someWords = new Map([[`0x${'28'.repeat(20)}`, new Map([[`0x${'0'.repeat(63)}1`, `0x${'0'.repeat(63)}2`]])]]);

test.each([
  ['venues that are no list', {}, zeroAddress],
  ['no venue that is one', [{ overrides: some }], zeroAddress],
  ['a venue that is none', [null, { router, overrides: some }], router],
  ['a venue without router', [{ router, overrides: some }, { overrides: some }], router],
  [
    'a venue whose overrides are a list',
    [
      { router, overrides: some },
      { router, overrides: [] },
    ],
    router,
  ],
])('of a snapshot with %s the rest counts', (_what, venues, venue) => {
  const frame = parseRelayerFrame(relayerPush({ blockNumber: '5', overrides: some, venues }));
  const skipped = new Map([['venue', 1]]);
  expect(frame).toEqual({
    blockNumber: 5n,
    timestamp: null,
    venues: new Map([[venue, someWords]]),
    isComplete: true,
    skipped,
  });
});

test('venues count where overrides are malformed, and a router in two spellings is one', () => {
  const venues = [{ router: router.toUpperCase().replace('X', 'x'), overrides: some }, { router }];
  for (const overrides of [undefined, 'x', [], some]) {
    const frame = parseRelayerFrame(relayerPush({ blockNumber: 5, overrides, venues }));
    expect(frame?.venues).toEqual(new Map([[router, someWords]]));
  }
});

test('any mixture of good and malformed entries gives exactly the good ones', () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(relayerVenues, overridesOf(RELAYER), fc.boolean(), (entries, overrides, isListed) => {
      const mixture = meaningOf(isListed ? entries : []);
      // Without a venue, the overrides of all are of one.
      if (mixture.venues.size === 0) overrides.addTo(zeroAddress, mixture);
      const isEmpty = Object.keys(overrides.fields).length === 0;
      const expected = isEmpty ? meaningOf([]) : mixture;
      for (const entry of expected.counts.keys()) seen.add(entry);
      const venues = entries.map(({ value }) => value);
      const result = { blockNumber: '5', overrides: overrides.fields, ...(isListed && { venues }) };
      expect(parseRelayerFrame(relayerPush(result))).toEqual({
        blockNumber: 5n,
        timestamp: null,
        venues: expected.venues,
        isComplete: true,
        skipped: expected.counts.size > 0 ? expected.counts : undefined,
      });
    }),
    { numRuns: runs(300) },
  );
  expect([...seen].sort()).toEqual(['account', 'venue', 'word']);
});

test('a refusal is not a malformed snapshot, and snapshots have bounds', () => {
  expect(codeOf('{"id":1,"error":{"code":-32000,"message":"propamm engine not ready"}}')).toBe('refused');
  const venues = Array.from({ length: BOUNDS.venues + 1 }, (_, n) => ({ router: `0x${String(n).padStart(40, '0')}` }));
  const frame = parseRelayerFrame(relayerPush({ blockNumber: 5, overrides: some, venues }));
  expect([frame?.venues.size, frame?.skipped]).toEqual([BOUNDS.venues, new Map([['oversized', 1]])]);
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
