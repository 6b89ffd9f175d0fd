import { expect, test } from 'vitest';
import { forEachYielding } from './for-each-yielding.ts';

const spin = (milliseconds: number) => {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
};

test('all items are worked on in order, and others have a turn between long work', async () => {
  const done: string[] = [];
  const work = forEachYielding(['a', 'b'], (item) => {
    spin(5);
    done.push(item);
    setImmediate(() => done.push(`after ${item}`));
  });
  await work;
  expect(done).toEqual(['a', 'after a', 'b', 'after b']);
});
