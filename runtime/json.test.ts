import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../test/harness/property-seed.ts';
import { decodeBigints, encodeBigints, parseJson, stringifyJson } from './json.ts';

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

test('bigints of any size are digits on the way, and bigints or null again where the reader expects them', () => {
  const known = fc.option(fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n }));
  const value = fc.record({ large: known, parts: fc.array(fc.record({ large: known, text: fc.string() })) });
  fc.assert(
    fc.property(value, (each) => {
      const text = encodeBigints(each);
      expect(decodeBigints(text, new Set(['large']))).toEqual(each);
      if (each.large !== null) expect(JSON.parse(text).large).toBe(String(each.large));
    }),
  );
  expect(encodeBigints({ of: new Map([['a', new Map([[1, 2n]])]]) })).toBe('{"of":[["a",[[1,"2"]]]]}');
});

/** Largest safe integer, and neighbours of it on both sides. */
const EDGES = [2n ** 53n - 1n, 2n ** 53n, 10n ** 15n - 1n, 10n ** 15n, 10n ** 99n];

test('everything else reads as JSON.parse does, also beside large integers', () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: 'binary' }), fc.constantFrom(0n, ...EDGES), (value, large) => {
      const isUnsafe = (n: unknown) => typeof n === 'number' && Number.isInteger(n) && !Number.isSafeInteger(n);
      const text = JSON.stringify(value, (_key, each) => (isUnsafe(each) ? 0.1 : each));
      const json = `{"value":${text},"integers":[${large},-${large}]}`;
      const exact = (n: bigint) => (n < 2n ** 53n ? Number(n) : n);
      expect(parseJson(json)).toEqual({
        value: JSON.parse(text),
        integers: [exact(large), large < 2n ** 53n ? -Number(large) : -large],
      });
    }),
  );
});

test('only an integer beyond 2^53 - 1 becomes a bigint', () => {
  const text =
    '[9007199254740991,9007199254740992,1234567890.1234567890,1e21,-0.0000000000000001,"12345678901234567890"]';
  expect(parseJson(text)).toEqual([
    ...JSON.parse('[9007199254740991]'),
    9007199254740992n,
    ...JSON.parse(text).slice(2),
  ]);
  const keys = '{"12345678901234567890":12345678901234567890,"__proto__":12345678901234567890}';
  const large = 12345678901234567890n;
  expect(Object.entries(parseJson(keys) as object)).toEqual([
    [String(large), large],
    ['__proto__', large],
  ]);
});

test.each([
  '{"a":1,}',
  '',
  '{"a":01}',
  '[1',
  'NaN',
  '{"a":00000000000000000001}',
  '{12345678901234567890:1}',
  '"a"12345678901234567890',
  '[12345678901234567890',
  '"12345678901234567890',
  '-',
  '[- 12345678901234567890]',
])('refuses %j', (text) => {
  expect(() => parseJson(text)).toThrow(SyntaxError);
});

test('what is not JSON is refused as JSON.parse does', () => {
  const part = fc.constantFrom(...'{}[],:"-+.eE \n', '"a"', '"a":', 'null', '9'.repeat(15));
  const texts = fc.oneof(
    fc.array(part, { maxLength: 30 }).map((parts) => parts.join('')),
    fc.tuple(fc.json({ maxDepth: 4 }), part, fc.nat()).map(([json, add, at]) => {
      const place = at % (json.length + 1);
      return json.slice(0, place) + add + json.slice(place);
    }),
  );
  const read = (parse: (text: string) => unknown, text: string) => {
    try {
      return { value: parse(text) };
    } catch (error) {
      return { error: (error as Error).message };
    }
  };
  const rounded = (text: string) =>
    JSON.parse(JSON.stringify(parseJson(text), (_, each) => (typeof each === 'bigint' ? Number(each) : each)));
  fc.assert(
    fc.property(texts, (text) => {
      const now = read(rounded, text);
      // Writing makes 0 of -0.
      const native = read((each) => JSON.parse(JSON.stringify(JSON.parse(each))), text);
      if (!now.error?.startsWith('Duplicate key')) expect(now).toEqual(native);
    }),
    { numRuns: runs(400) },
  );
});

describe('a key that an object has twice', () => {
  test.each([
    ['{"a":1,"a":2}', 'a', 8],
    ['{"a":1,"a":1}', 'a', 8],
    ['{"a":null , "b" : 2 ,\n"a"\t:3}', 'a', 23],
    ['{"a":1,"\\u0061":2}', 'a', 8],
    ['{"a\\"":1,"a\\"":2}', 'a"', 10],
    ['{"":1,"":2}', '', 7],
    ['{"__proto__":1,"__proto__":2}', '__proto__', 16],
    ['[{"a":{"b":1,"c":[{"d":1},{"d":1,"d":2}]}}]', 'd', 34],
    ['{"a":{"x":1},"b":2,"a":{"x":2}}', 'a', 20],
    ['{"a":[],"a":{}}', 'a', 9],
  ])('is found in %s', (text, key, at) => {
    expect(() => parseJson(text)).toThrow(`Duplicate key '${key}' encountered at position ${at}`);
  });

  test.each([
    ['{}'],
    ['"a"'],
    ['["a","a"]'],
    ['{"a":"a","b":"a"}'],
    ['{"a":{"a":{"a":1}}}'],
    ['[{"a":1},{"a":1}]'],
    ['{"a":"\\":1,\\"a\\":2","b":"{\\"a\\":1"}'],
    ['{"a":1,"A":2}'],
  ])('is not in %s', (text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
  });

  test('is found exactly where one was written', () => {
    fc.assert(
      fc.property(tree, ({ text, repeats }) => {
        JSON.parse(text);
        if (repeats) expect(() => parseJson(text)).toThrow(/Duplicate key/);
        else expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });
});

test('the largest bodies are read, or refused where they are nested too deeply', () => {
  const size = 250_000;
  for (const text of [`{"a":"${'\\\\'.repeat(size / 2)}"}`, `{"${'x'.repeat(size)}":1}`]) {
    expect(parseJson(text)).toEqual(JSON.parse(text));
  }
  expect(() => parseJson(`${'{"a":'.repeat(size / 6)}1${'}'.repeat(size / 6)}`)).toThrow(RangeError);
  expect(() => parseJson('9'.repeat(1_001))).toThrow(SyntaxError);
});

const SIZE = 255_000;
/** A string of a body's size, in the shapes that a reader may take for something else. */
const LARGE_STRINGS = [
  ':',
  'é:',
  '::::1234567890123456',
  ' :9007199254740993',
  '\\"',
  '\\"a\\":1,',
  '\\u003a',
  '\\\\',
  'x',
  ' ',
].map((part) => `"${part.repeat(SIZE / part.length)}"`);
const LARGE_BODIES = LARGE_STRINGS.flatMap((large) => [
  `{"x":${large}}`,
  `{${large}:1}`,
  `[${large},{"b":${large}}]`,
  `{"n":12345678901234567890,"x":${large}}`,
]);

test('a large body reads as JSON.parse reads it, and integers stay exact next to large strings', () => {
  for (const text of LARGE_BODIES) {
    const read = JSON.parse(text);
    expect(parseJson(text)).toEqual('n' in read ? { ...read, n: 12345678901234567890n } : read);
  }
});

test('a large text is refused for the same reason as a small one', () => {
  for (const large of LARGE_STRINGS) {
    expect(() => parseJson(`{"x":1,"x":${large}}`)).toThrow("Duplicate key 'x' encountered at position 8");
    for (const text of [`{"x":${large}`, `[${large}]]`, large.slice(0, -1)]) {
      expect(() => parseJson(text)).toThrow(SyntaxError);
    }
  }
});

type Written = { readonly text: string; readonly repeats: boolean };

const key = fc.constantFrom('a', 'b', 'c', '"', '\\', 'a\\', '{', '}', '":', 'é');
/** The same key in one of two spellings. */
const written = (name: string) =>
  fc.constantFrom(
    JSON.stringify(name),
    `"\\u${name.charCodeAt(0).toString(16).padStart(4, '0')}${JSON.stringify(name.slice(1)).slice(1)}`,
  );

/** JSON written by hand, with a note of whether any object of it has a key twice. */
const { tree } = fc.letrec<{ tree: Written }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(key, fc.integer(), fc.constant(null)).map((leaf) => ({ text: JSON.stringify(leaf), repeats: false })),
    fc.array(tie('tree'), { maxLength: 3 }).map((items) => ({
      text: `[${items.map(({ text }) => text).join(' ,')}]`,
      repeats: items.some(({ repeats }) => repeats),
    })),
    fc
      .array(
        key.chain((name) => fc.record({ name: fc.constant(name), spelling: written(name), value: tie('tree') })),
        { maxLength: 4 },
      )
      .map((fields) => ({
        text: `{${fields.map(({ spelling, value }) => `${spelling} :${value.text}`).join(',')}}`,
        repeats:
          fields.some(({ value }) => value.repeats) || new Set(fields.map(({ name }) => name)).size < fields.length,
      })),
  ),
}));
