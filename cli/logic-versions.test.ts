import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { ConfigError } from '../config/config-error.ts';
import { changedFiles, committedPath, hashFiles, LOGIC_NAMES, logicVersion } from './logic-versions.ts';

const FILES = {
  'indexer/registration/all.ts': `import {\n  a,\n  type A,\n} from '../a.ts';\nimport '../b.ts';\nimport { viem } from 'viem';\n`,
  'indexer/ponder.schema.ts': `export { table } from './schema/table.ts';\n`,
  'indexer/schema/table.ts': `import type { Row } from './row.ts';\nexport const table = 1;\n`,
  'indexer/schema/row.ts': 'export type Row = 1;\n',
  'indexer/a.ts': `import { chains } from '../config/chains.ts';\nexport const a = chains;\n`,
  'indexer/b.ts': `loadStatement('./b.sql', import.meta.url);\n`,
  'indexer/b.sql': 'SELECT 1\n',
  'indexer/other.ts': 'export const other = 1;\n',
  'config/chains.ts': 'export const chains = 1;\n',
};

const root = await mkdtemp(join(tmpdir(), 'logic-version-'));

const write = async (file: string, text: string) => {
  await mkdir(dirname(join(root, file)), { recursive: true });
  await writeFile(join(root, file), text);
};

beforeEach(async () => {
  for (const [file, text] of Object.entries(FILES)) await write(file, text);
  const files = hashFiles('index', root);
  await writeFile(committedPath('index', root), JSON.stringify({ version: 7, files }));
});
afterAll(() => rm(root, { recursive: true }));

test('a logic is its entries and what they import of the project, but for types and the reading of settings', () => {
  expect(Object.keys(hashFiles('index', root))).toEqual([
    'indexer/a.ts',
    'indexer/b.sql',
    'indexer/b.ts',
    'indexer/ponder.schema.ts',
    'indexer/registration/all.ts',
    'indexer/schema/table.ts',
  ]);
  expect(logicVersion('index', root)).toBe(7);
});

test.each(['indexer/a.ts', 'indexer/b.sql', 'indexer/schema/table.ts'])(
  '%s, when it was changed, is refused',
  async (file) => {
    await write(file, `${FILES[file as keyof typeof FILES]}// More.\n`);
    expect(() => logicVersion('index', root)).toThrow(ConfigError);
    expect(() => logicVersion('index', root)).toThrow(
      `index logic: ${file} changed since version 7: run "npm run logic-version same"`,
    );
  },
);

test('a file that is newly imported, or no longer, is rejected', async () => {
  await write('indexer/registration/all.ts', `import '../a.ts';\nimport '../other.ts';\n`);
  expect(changedFiles('index', root)).toEqual([
    'indexer/b.sql',
    'indexer/b.ts',
    'indexer/other.ts',
    'indexer/registration/all.ts',
  ]);
});

test('what is not of the logic may change', async () => {
  for (const file of ['indexer/other.ts', 'indexer/schema/row.ts', 'config/chains.ts'])
    await write(file, '// Other.\n');
  expect(logicVersion('index', root)).toBe(7);
});

test.each(LOGIC_NAMES)('the %s logic of this project is the one that its version was given to', (name) => {
  expect(changedFiles(name)).toEqual([]);
  expect(Object.keys(hashFiles(name)).length).toBeGreaterThan(50);
});
