import fc from 'fast-check';
import { expect, test } from 'vitest';
import { arrayLiteral, NumberList } from './number-list.ts';

const number = fc.bigInt({ min: -(1n << 120n), max: 1n << 120n });
const numbers = fc.array(number, { minLength: 1, maxLength: 40 });

test('changes of entries are those of an array', () => {
  const changes = fc.array(fc.record({ pick: fc.nat(), amount: number, set: fc.boolean() }), { maxLength: 20 });
  fc.assert(
    fc.property(numbers, changes, (start, steps) => {
      const list = new NumberList(arrayLiteral(start));
      const array = [...start];
      for (const { pick, amount, set } of steps) {
        const index = pick % array.length;
        if (set) list.set(index, amount);
        else list.add(index, amount);
        array[index] = set ? amount : (array[index] ?? 0n) + amount;
      }
      expect(array.map((_, index) => BigInt(list.at(index)))).toEqual(array);
      expect(list.toString()).toBe(`{${array.map(String).join(',')}}`);
    }),
  );
});

test.each([-1, 3, 0.5])('an entry at %d of three is refused, and nothing is changed', (index) => {
  const list = new NumberList('{1,2,3}');
  expect(() => list.at(index)).toThrow(RangeError);
  expect(() => list.set(index, 4)).toThrow(RangeError);
  expect(() => list.add(index, 0n)).toThrow(RangeError);
  expect(() => list.add(index, 4n)).toThrow(RangeError);
  expect(list.toString()).toBe('{1,2,3}');
});
