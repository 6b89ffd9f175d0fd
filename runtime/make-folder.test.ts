import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { makeFolder } from './make-folder.ts';

test('a folder is made with those above it, and may be there', async () => {
  const parent = await mkdtemp(join(tmpdir(), 'make-folder-test-'));
  onTestFinished(() => rm(parent, { recursive: true }));
  const path = join(parent, 'a/b/c');
  await Promise.all([makeFolder(path, 0o711), makeFolder(path, 0o711), makeFolder(join(path, 'd'), 0o711)]);
  for (const made of ['a', 'a/b', 'a/b/c']) expect((await stat(join(parent, made))).mode & 0o777).toBe(0o711);
  await makeFolder('/');
  await writeFile(join(parent, 'file'), '');
  await expect(makeFolder(join(parent, 'file'))).rejects.toThrow('EEXIST');
  await expect(makeFolder(join(parent, 'file/a'))).rejects.toThrow('ENOTDIR');
});

test('a file system without room for folders is an error', { skip: process.platform !== 'linux' }, async () => {
  await expect(makeFolder('/proc/none/data')).rejects.toThrow('ENOENT');
});
