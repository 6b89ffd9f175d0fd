import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { logicHash } from './logic-hash.ts';

let root: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'logic-hash-'));
  for (const folder of ['indexer/handlers', 'indexer/reducers', 'indexer/schema', 'protocol/layouts/flat']) {
    await mkdir(join(root, folder), { recursive: true });
  }
  await writeFile(join(root, 'protocol/layouts/flat/events.ts'), 'one');
});

afterEach(() => rm(root, { recursive: true }));

test('it changes with the code behind the handlers, wherever it lies, and with nothing else', async () => {
  const before = logicHash(root);
  await writeFile(join(root, 'indexer/handlers/a.test.ts'), 'a test');
  await writeFile(join(root, 'indexer/main.ts'), 'no logic');
  expect(logicHash(root)).toBe(before);
  await writeFile(join(root, 'indexer/handlers/a.ts'), 'two');
  const added = logicHash(root);
  expect(added).not.toBe(before);
  await writeFile(join(root, 'protocol/layouts/flat/events.ts'), 'three');
  expect(logicHash(root)).not.toBe(added);
});

test('it digests this project', () => {
  expect(logicHash()).toMatch(/^[0-9a-f]{16}$/);
});
