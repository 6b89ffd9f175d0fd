import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addToList, arrayLiteral, listEntry, setListEntry } from './number-list.ts';

const number = fc.bigInt({ min: -(1n << 120n), max: 1n << 120n });
const numbers = fc.array(number, { minLength: 1, maxLength: 40 });

test('changes of entries are those of an array', () => {
  const changes = fc.array(fc.record({ pick: fc.nat(), amount: number, set: fc.boolean() }), { maxLength: 20 });
  fc.assert(
    fc.property(numbers, changes, (start, steps) => {
      let list = arrayLiteral(start);
      const array = [...start];
      for (const { pick, amount, set } of steps) {
        const index = pick % array.length;
        list = set ? setListEntry(list, index, index) : addToList(list, [[index, amount]]);
        array[index] = set ? BigInt(index) : (array[index] ?? 0n) + amount;
      }
      expect(array.map((_, index) => BigInt(listEntry(list, index)))).toEqual(array);
      expect(list).toBe(`{${array.map(String).join(',')}}`);
    }),
  );
});

test.each([-1, 3, 0.5])('an entry at %d of three is refused', (index) => {
  const list = '{1,2,3}';
  expect(() => listEntry(list, index)).toThrow(RangeError);
  expect(() => setListEntry(list, index, 4)).toThrow(RangeError);
  expect(() => addToList(list, [[index, 0n]])).toThrow(RangeError);
  expect(() => addToList(list, [[index, 4n]])).toThrow(RangeError);
});
