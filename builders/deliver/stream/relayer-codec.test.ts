import { describe, expect, test } from 'vitest';
import { updateOf } from '../../../test/pamm/sample-updates.ts';
import type { Hex } from '../../submit/quote-update.ts';
import { RELAYER } from './relayer-codec.ts';

const UUID: Hex = `0x${'0f'.repeat(16)}`;
const decode = (text: string) => RELAYER.decode(Buffer.from(text));
const responseOf = (fields: object) => JSON.stringify({ jsonrpc: '2.0', id: 'k', ...fields });
const resultOf = (fields: object) => responseOf({ result: { uuid: UUID, seq: 1, ...fields } });

describe('an update', () => {
  test('is one call whose id is its key, integers up to 2^64 - 1, with nothing that the relayer does not know', () => {
    const update = updateOf({
      tx: '0x02f8',
      blockNumber: 2n ** 64n - 1n,
      replacementUuid: UUID,
      replacementSeqNumber: 9_007_199_254_740_993n,
      disableCrossRegionSharing: true,
      maxTimestamp: 1_800_000_000n,
    });
    expect(RELAYER.encode(update)).toBe(
      `{"jsonrpc":"2.0","id":"${UUID}:9007199254740993","method":"pamm_sendQuoteUpdateV1","params":[{"uuid":"${UUID}",` +
        '"seq":9007199254740993,"tx":"0x02f8","maxBlockNumber":18446744073709551615}]}',
    );
  });

  test('that cancels has 0x for its transaction', () => {
    const cancel = updateOf({ tx: '0x', blockNumber: 0n, replacementUuid: UUID, replacementSeqNumber: 7n });
    expect(JSON.parse(String(RELAYER.encode(cancel))).params).toEqual([
      { uuid: UUID, seq: 7, tx: '0x', maxBlockNumber: 0 },
    ]);
  });
});

describe('a response', () => {
  test('is matched by its id, its milliseconds as nanoseconds', () => {
    expect(decode(resultOf({ timestamp: 1_800_000_000_123 }))).toEqual({
      key: 'k',
      answer: { accepted: true, timestampNs: 1_800_000_000_123_000_000n },
    });
  });

  test.each([
    ['a missing', {}],
    ['an empty', { error: '' }],
    ['a null', { error: null }],
  ])('with %s error accepts', (_name, fields) => expect(decode(resultOf(fields)).answer).toEqual({ accepted: true }));

  test.each([0, -1, 1.5, '1800000000123', null, 2 ** 53])('with the time %s accepts without one', (timestamp) => {
    expect(decode(resultOf({ timestamp })).answer).toEqual({ accepted: true });
  });

  test.each([
    'stale seq',
    'uuid has been canceled',
    'uuid belongs to another maker',
    'quote tx signed for a different chain id',
    'quote expired on arrival',
    'propamm engine not ready',
    'relayer busy, retry',
    'missing maker API key (x-api-key header)',
    'invalid API key',
    'API key is not a maker key',
    'execution reverted: FeedStalled',
  ])('refuses with the words of the relayer, in its result or as an error: %s', (error) => {
    expect(decode(resultOf({ timestamp: 1, error })).answer).toEqual({ accepted: false, error });
    expect(decode(responseOf({ error: { code: -32_000, message: error } }))).toEqual({
      key: 'k',
      answer: { accepted: false, error },
    });
  });

  test('refuses with a code alone, and with text that is safe to store', () => {
    expect(decode(responseOf({ error: { code: -32_601 } })).answer).toEqual({
      accepted: false,
      error: 'the builder refused with code -32601',
    });
    expect(decode(resultOf({ error: `a\0${'x'.repeat(9_999)}` })).answer).toEqual({
      accepted: false,
      error: `a ${'x'.repeat(498)}`,
    });
  });

  test.each([
    ['no JSON', '{"id":'],
    ['a text', '"ok"'],
    ['no id', JSON.stringify({ result: {} })],
    ['no call’s id', JSON.stringify({ id: null, error: { code: -32_700, message: 'parse error' } })],
    ['a number for an id', JSON.stringify({ id: 1, result: {} })],
    ['no result', responseOf({})],
    ['a result that is a text', responseOf({ result: 'ok' })],
    ['a batch', `[${resultOf({})}]`],
    ['a notification', JSON.stringify({ jsonrpc: '2.0', method: 'pamm_subscription', params: { result: {} } })],
    ['an error that is no text', resultOf({ error: 5 })],
    ['an id twice', '{"id":"k","id":"l","result":{}}'],
    ['deep brackets', '['.repeat(100_000)],
  ])('is none with %s', (_name, text) => expect(() => decode(text)).toThrow());
});
