import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { logicHash } from './logic-hash.ts';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));
const UNCHANGED = logicHash();

/** A copy of the sources, without packages and settings, that tests change. */
let root: string;

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'logic-hash-'));
  for (const folder of ['indexer', 'protocol'])
    await cp(join(PROJECT, folder), join(root, folder), { recursive: true });
});
afterAll(() => rm(root, { recursive: true }));

type Change = readonly [path: string, change: (source: string) => string];

/** The digest while these changes of files stand together. */
async function hashWith(...changes: readonly Change[]): Promise<string> {
  const sources = new Map<string, string>();
  for (const [path, change] of changes) {
    const file = join(root, path);
    const source = await readFile(file, 'utf8');
    if (!sources.has(file)) sources.set(file, source);
    const changed = change(source);
    expect(changed).not.toBe(source);
    await writeFile(file, changed);
  }
  const hash = logicHash(root);
  for (const [file, source] of sources) await writeFile(file, source);
  return hash;
}

const replace = (from: string | RegExp, to: string) => (source: string) => source.replaceAll(from, to);
const append = (text: string) => (source: string) => `${source}\n${text}\n`;

test('it is the same in another folder, without packages', () => {
  expect(UNCHANGED).toMatch(/^[0-9a-f]{16}$/);
  expect(logicHash(root)).toBe(UNCHANGED);
});

describe('it does not change with', () => {
  const neutral: readonly (readonly [string, ...Change])[] = [
    ['a comment', 'indexer/reducers/swap.ts', append('/** More on swaps, in letters as in qqqqqqqqqqqqqqqqqq. */')],
    [
      'a comment before a handler',
      'indexer/registration/flat-pool.ts',
      (source) => `// Pools of one layout.\n${source}`,
    ],
    ['layout', 'indexer/handlers/trading.ts', replace(/\n +/g, '\n\t\t')],
    ['a type', 'protocol/pool-events.ts', append('export type Quizzical = { readonly jjjjjjjjjjjjjj: bigint };')],
    ['an unused function', 'protocol/fixed-point.ts', append('export const twice = (x: bigint) => x * 2n;')],
    ['the name of a function', 'indexer/reducers/swap.ts', replace('sumParts', 'zzqqXxyyKkjj')],
    ['the name of a variable and a property', 'indexer/handlers/trading.ts', renamedHash],
    ['names of variables', 'indexer/handlers/trading.ts', replace(/(?<!\w|[^.]\.)(place|context)\b/g, '$1QXZ')],
    ['code that the indexer does not import', 'protocol/fill-walk.ts', append('export const MORE = 1;')],
    ['how a route is found', 'protocol/routing/score.ts', append('export const MORE = 1;')],
    ['how pools are priced', 'protocol/layouts/ladder.ts', replace('distE6 <= -1e6', 'distE6 < -1e6')],
    ['how the chains file is read', 'indexer/sources.ts', append('export const MORE = 1;')],
    ['the process around Ponder', 'indexer/main.ts', append('export const MORE = 1;')],
    ['a test', 'indexer/reducers/swap.test.ts', append('// more')],
  ];
  let together: string;

  beforeAll(async () => {
    together = await hashWith(...neutral.map(([, ...change]) => change));
  });

  // A bundle takes half a second: one for all of them, and one for each only to tell which it was.
  test.each(neutral)('%s', async (_, ...change) => {
    if (together !== UNCHANGED) expect(await hashWith(change)).toBe(UNCHANGED);
  });

  test('all of these together', () => {
    expect(together).toBe(UNCHANGED);
  });
});

/** A property that was named as the variable that it goes into. */
function renamedHash(source: string): string {
  return source
    .replace('const { transactionHash } = place', 'const { transactionHash: hash } = place')
    .replace(/(?<=!== |: )transactionHash\b(?!:)/g, 'hash');
}

describe('it changes with', () => {
  test.each<[string, string, string, string]>([
    [
      'a reducer',
      'indexer/reducers/swap.ts',
      'zeroForOne: bins.delta0Scaled > 0n',
      'zeroForOne: bins.delta0Scaled < 0n',
    ],
    ['a handler', 'indexer/handlers/trading.ts', 'sender: event.sender', 'sender: event.recipient'],
    ['an event that is taken', 'indexer/registration/flat-pool.ts', "'FlatPool:Swap'", "'FlatPool:Swapped'"],
    ['a column', 'indexer/schema/pools.ts', 'symbol: text()', "symbol: text('sign')"],
    ['a table that is left out', 'indexer/ponder.schema.ts', 'feeCollection, ', ''],
    ['protocol code', 'protocol/scaling.ts', 'MIN_INTERNAL_DECIMALS = 18', 'MIN_INTERNAL_DECIMALS = 19'],
    ['the layout of an event', 'protocol/layouts/flat/events.ts', 'bin: Number(binIdx)', 'bin: Number(binIdx) + 1'],
    ['a function of a contract', 'protocol/layouts/immutables.ts', 'getImmutables', 'immutables'],
  ])('%s', async (_, path, from, to) => {
    expect(await hashWith([path, replace(from, to)])).not.toBe(UNCHANGED);
  });
});

test('it takes no time that a start would notice', () => {
  const startedAt = performance.now();
  logicHash();
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});
