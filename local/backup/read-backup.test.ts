import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { FIRST_LINE } from './backup-format.ts';
import { readBackup } from './read-backup.ts';

test('a damaged file is not whole, also where a reader of rows that gave up received that error first', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'backup-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const header = JSON.stringify({ release: '1.0.0', migrations: [] });
  const packed = gzipSync(`${FIRST_LINE}\n-- ${header}\n--\nCOPY a.b (c) FROM STDIN;\n${'row\n'.repeat(100_000)}`);
  const file = join(folder, 'damaged');
  await writeFile(file, packed.with(packed.length - 5, (packed.at(-5) ?? 0) ^ 1));

  const { parts, assertWhole } = await readBackup(file);
  for await (const { rows } of parts) {
    const reader = rows?.[Symbol.asyncIterator]();
    for (let more = true; more; ) more = (await reader?.next().catch(() => ({ done: true })))?.done === false;
    break;
  }
  await expect(assertWhole()).rejects.toThrow(`${file} is not a whole backup (Z_DATA_ERROR)`);
});
