import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deflatePart, gzipMember, MAX_STORED_BYTES, storedPart } from './gzip-parts.ts';
import { JoinedBody, ReadyBody } from './ready-body.ts';

const text = fc.string({ unit: 'grapheme', maxLength: 200 });
const long = fc.tuple(text, fc.integer({ min: 1, max: 400 })).map(([each, times]) => each.repeat(times));

test('parts of any length, compressed or stored, are one gzip member of all texts', async () => {
  const part = fc.oneof(
    text.map((each) => [each, true] as const),
    long.map((each) => [each, false] as const),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 12 }), async (texts) => {
      const parts = texts.map(([each, isStored]) => (isStored ? storedPart(Buffer.from(each)) : deflatePart(each, 1)));
      // Node checks the CRC-32 and the length, and refuses bytes behind the member.
      const member = gunzipSync(gzipMember(await Promise.all(parts)));
      expect(member.toString()).toBe(texts.map(([each]) => each).join(''));
    }),
  );
});

test('the longest stored part', () => {
  const content = 'x'.repeat(MAX_STORED_BYTES);
  expect(gunzipSync(gzipMember([...[content, 'y'].map((each) => storedPart(Buffer.from(each)))])).toString()).toBe(
    `${content}y`,
  );
});

test('a joined body is its parts, with and without compression', async () => {
  const part = fc.oneof(
    text,
    long.map((each) => new ReadyBody(each)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 12 }), async (parts) => {
      const whole = parts.map((each) => (typeof each === 'string' ? each : each.content)).join('');
      const body = new JoinedBody(parts);
      expect([Buffer.from(body.content).toString(), body.length]).toEqual([whole, Buffer.byteLength(whole)]);
      expect(gunzipSync(await body.zipped()).toString()).toBe(whole);
    }),
  );
});
