import { chown, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { assertOwner, openDataFolder } from './data-folder.ts';

async function tempFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'data-folder-test-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}

test('the secret is made once, whoever comes first, for its owner alone', async () => {
  const path = await tempFolder();
  const opened = await Promise.all([1, 2, 3].map(() => openDataFolder(path)));
  const [secret] = new Set(opened.map((it) => it.secret));
  expect(secret).toMatch(/^[0-9a-f]{48}$/);
  expect(opened.map((it) => it.secret)).toEqual(Array(3).fill(secret));
  expect(await readFile(join(path, 'secret'), 'utf8')).toBe(secret);
  expect((await stat(join(path, 'secret'))).mode & 0o777).toBe(0o600);
  expect(await readdir(path)).toEqual(['secret']);
});

test.each(['', 'abc', 'f'.repeat(47), `${'f'.repeat(48)}\n`])('the secret "%s" was not written whole', async (left) => {
  const path = await tempFolder();
  await writeFile(join(path, 'secret'), left);
  await expect(openDataFolder(path)).rejects.toThrow(`${path}/secret is damaged: restore it`);
  expect(await readFile(join(path, 'secret'), 'utf8')).toBe(left);
});

test('a folder where no folder can be made is reported in one line', {
  skip: process.platform !== 'linux',
}, async () => {
  await expect(openDataFolder('/proc/none/data')).rejects.toThrow('--data: /proc/none/data cannot be used (ENOENT)');
});

test("another user's folder is refused, also to root", async () => {
  const path = await tempFolder();
  const folder = await openDataFolder(path);
  await assertOwner(folder);
  if (process.getuid?.() !== 0) return; // No other account's.
  await chown(join(path, 'secret'), 12_345, 12_345);
  await expect(assertOwner(folder)).rejects.toThrow(`--data: ${path} is of user 12345: run this as that user`);
});
