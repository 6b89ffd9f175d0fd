import fc from 'fast-check';
import { Hono } from 'hono';
import { compress } from 'hono/compress';
import { expect, test } from 'vitest';
import { COMPRESS_FROM_BYTES, isSentZipped, ReadyBody } from './ready-body.ts';

const LONG = new ReadyBody('x'.repeat(COMPRESS_FROM_BYTES));

test.each([
  ['gzip;q=0, *', false],
  ['*, gzip;q=0', false],
  ['gzip; q=0.000 , *;q=1', false],
  ['GZIP;Q=0, *', false],
  ['gzip;q=0', false],
  ['*;q=0', false],
  ['*;q=0, gzip', true],
  ['gzip;q=0.001', true],
  ['x-gzip', false],
  ['gzipped', false],
  ['br, *;q=0.1', true],
  ['identity', false],
  ['', false],
])('"%s" gets gzip: %s', (accepted, expected) => {
  expect(isSentZipped(LONG, accepted)).toBe(expected);
});

test('a body that is sent in one piece is compressed whenever a streamed one is', async () => {
  const app = new Hono()
    .use(compress({ threshold: COMPRESS_FROM_BYTES, encoding: 'gzip' }))
    .get('/', (c) => c.text(String(LONG.content)));
  const quality = fc.constantFrom('', ';q=0', '; q=0.0', ';q=0.001', ';q=1', ' ; q=0.5');
  const entry = fc.tuple(fc.constantFrom('gzip', 'GZip', '*', 'br', 'identity', 'x-gzip'), quality);
  const header = fc.uniqueArray(entry, { maxLength: 5, selector: ([name]) => name.toLowerCase() });
  await fc.assert(
    fc.asyncProperty(header, async (entries) => {
      const accepted = entries.map((each) => each.join('')).join(', ');
      const streamed = await app.request('/', { headers: { 'Accept-Encoding': accepted } });
      expect(isSentZipped(LONG, accepted)).toBe(streamed.headers.get('Content-Encoding') === 'gzip');
    }),
  );
});
