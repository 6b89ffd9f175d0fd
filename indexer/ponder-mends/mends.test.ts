import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { MENDS, mendSource } from './mends.ts';

test.each(MENDS)('the Ponder that is installed has what is mended in $file', async (mend) => {
  const packages = new URL('../../../', import.meta.resolve('ponder'));
  const url = new URL(`.${mend.file}`, packages);
  const source = await readFile(url, 'utf8');
  const mended = mendSource(url.href, source);
  expect(mended?.split(mend.replace)).toHaveLength(mend.times + 1);
  expect(mended).toHaveLength(source.length + mend.times * (mend.replace.length - mend.find.length));
});

test('a Ponder that reads differently is refused', () => {
  const mend = { file: '/ponder/some.js', find: 'old', replace: 'new', times: 1 };
  expect(mendSource('file:///x/ponder/some.js', 'an old thing', [mend])).toBe('an new thing');
  expect(mendSource('file:///x/ponder/other.js', 'an old thing', [mend])).toBeNull();
  for (const source of ['nothing', 'old and old']) {
    expect(() => mendSource('file:///x/ponder/some.js', source, [mend])).toThrow('Ponder has changed');
  }
});
