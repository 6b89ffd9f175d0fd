import { stat } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createTempFolder } from './temp-folder.ts';

test('a folder is for this user alone, and goes', async () => {
  const { path, remove } = await createTempFolder('test');
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  await remove();
  await expect(stat(path)).rejects.toThrow('ENOENT');
});

test('a place where no folder can be made is reported in one line', async () => {
  await expect(createTempFolder('test', '/dev/null')).rejects.toThrow(
    'no folder can be made in /dev/null (ENOTDIR): set TMPDIR to one that can be written',
  );
});
