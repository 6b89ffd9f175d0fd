import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { readParquet } from '../../test/harness/read-parquet.ts';
import type { Column } from './columns.ts';
import { createTableFile, csvCell, unscaled } from './table-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'table-file-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LIMIT = 10n ** 38n;
const COLUMNS: Column[] = [
  { name: 'chain_id', sql: '', type: { kind: 'integer' } },
  { name: 'amount_raw', sql: '', type: { kind: 'amount', scale: 0 } },
  { name: 'mid_x64', sql: '', type: { kind: 'amount', scale: 1 } },
];
const amounts = fc.oneof(
  fc.bigInt(-LIMIT * 10n, LIMIT * 10n),
  fc.constantFrom(0n, -1n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 64n, 2n ** 127n, LIMIT - 1n, LIMIT, 1n - LIMIT),
);

test('Parquet holds each amount to the unit: as a decimal, or as text when it has more than 38 digits', async () => {
  const row = fc.record({ amount: fc.option(amounts), mid: amounts, isHalf: fc.boolean() });
  let files = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(row, { minLength: 1, maxLength: 30 }), async (rows) => {
      const path = join(folder, `${files++}.parquet`);
      const midOf = ({ mid, isHalf }: (typeof rows)[number]) => `${mid}${isHalf ? '.5' : ''}`;
      const file = createTableFile(path, 'parquet', COLUMNS);
      file.write(rows.map((one, n) => [String(n), one.amount === null ? null : String(one.amount), midOf(one)]));
      expect(existsSync(path)).toBe(false);
      file.finish();
      const read = await readParquet(path);
      expect(read).toHaveLength(rows.length);
      read.forEach((found, n) => {
        const one = rows[n] as (typeof rows)[number];
        const oversized = JSON.parse(String(found.oversized ?? '{}'));
        expect(found.chain_id).toBe(BigInt(n));
        expect(found.amount_raw ?? oversized.amount_raw ?? null).toEqual(
          one.amount !== null && found.amount_raw === null ? String(one.amount) : one.amount,
        );
        if (one.amount !== null && one.amount > -LIMIT && one.amount < LIMIT) expect(found.amount_raw).toBe(one.amount);
        // Ten times the price, as text without its point.
        const tenfold = BigInt(`${one.mid}${one.isHalf ? '5' : '0'}`);
        const isFitting = tenfold > -LIMIT && tenfold < LIMIT;
        expect([found.mid_x64, oversized.mid_x64]).toEqual(isFitting ? [tenfold, undefined] : [null, midOf(one)]);
      });
    }),
    { numRuns: runs(15) },
  );
});

test.each([
  ['5', 0, 5n],
  ['-5.0', 0, -5n],
  ['-0.5', 1, -5n],
  ['12.5', 1, 125n],
  ['12', 1, 120n],
  [String(LIMIT - 1n), 0, LIMIT - 1n],
  [String(LIMIT), 0, null],
  [`-${LIMIT}`, 0, null],
])('%s with %i digits after the point is %s', (text, scale, value) => {
  expect(unscaled(text, scale)).toBe(value);
});

test.each([
  ['0.5', 0],
  ['0.25', 1],
  ['NaN', 0],
  ['1e3', 0],
])('%s with %i digits after the point is refused, never rounded', (text, scale) => {
  expect(() => unscaled(text, scale)).toThrow(SyntaxError);
});

test.each([
  [null, ''],
  ['', '""'],
  ['plain', 'plain'],
  ['a,b', '"a,b"'],
  ['say "x"\n', '"say ""x""\n"'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@sum', "'@sum"],
  ['\t=1', "'\t=1"],
  ['\r=1', '"\'\r=1"'],
])('CSV writes the text %j as %s', (text, cell) => {
  expect(csvCell(text, { kind: 'text' })).toBe(cell);
});

test('no text begins a formula in CSV, and none is lost', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('=', '+', '-', '@', '\t', '\r', '\n', '"', ',', 'a', "'") }),
      (text) => {
        const cell = csvCell(text, { kind: 'text' });
        const content = cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell;
        expect(content).not.toMatch(/^[=+\-@\t\r\n]/);
        expect([text, `'${text}`]).toContain(content);
      },
    ),
  );
});

test('a CSV file has headings, numbers as they are and amounts with all digits', () => {
  const path = join(folder, 'amounts.csv');
  const file = createTableFile(path, 'csv', COLUMNS);
  file.write([['5', `-${LIMIT}1`, '12.5']]);
  file.write([['6', null, '0']]);
  file.finish();
  expect(readFileSync(path, 'utf8')).toBe(`chain_id,amount_raw,mid_x64\n5,-${LIMIT}1,12.5\n6,,0\n`);
});
