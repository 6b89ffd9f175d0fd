import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseJson, stringifyJson } from './json.ts';

test('an integer of any size survives the way in and out', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 70n), max: 2n ** 70n }), (value) => {
      const text = stringifyJson({ value });
      expect(text).toBe(`{"value":${value}}`);
      expect(BigInt((parseJson(text) as { value: number | bigint }).value)).toBe(value);
    }),
  );
});

test('the largest cooldown is written as a plain integer', () => {
  expect(stringifyJson({ secs: 18446744073709551615n })).toBe('{"secs":18446744073709551615}');
});

test('everything else reads as JSON.parse does', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      const plain = JSON.parse(text);
      const isUnsafe = (n: unknown) => typeof n === 'number' && Number.isInteger(n) && !Number.isSafeInteger(n);
      fc.pre(!isUnsafe(plain));
      expect(JSON.parse(stringifyJson(parseJson(text)))).toEqual(plain);
    }),
  );
});

test.each(['{"a":1,}', '', '{"a":01}', '[1', 'NaN'])('refuses %j', (text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError);
});
