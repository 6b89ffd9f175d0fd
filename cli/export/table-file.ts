import { appendFileSync, closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { type ColumnSource, fileWriter, ParquetWriter } from 'hyparquet-writer';
import type { Column, ColumnType } from './columns.ts';

export const FORMATS = ['parquet', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

/** A row as the driver gives it: texts for numbers that may be large. */
export type Row = readonly unknown[];

/** A file that is being written: it gets its name when it is complete, so what has that name always is. */
export interface TableFile {
  readonly write: (rows: readonly Row[]) => void;
  readonly finish: () => void;
}

/** Begins a file, in place of what a killed run left of it. */
export function createTableFile(path: string, format: Format, columns: readonly Column[]): TableFile {
  const temporary = `${path}.partial`;
  const { write, finish } = format === 'csv' ? csvFile(temporary, columns) : parquetFile(temporary, columns);
  return {
    write,
    finish() {
      finish();
      const file = openSync(temporary, 'r+');
      fsyncSync(file);
      closeSync(file);
      renameSync(temporary, path);
    },
  };
}

function csvFile(path: string, columns: readonly Column[]): TableFile {
  writeFileSync(path, `${columns.map(({ name }) => name).join()}\n`);
  const line = (row: Row) => `${columns.map(({ type }, index) => csvCell(row[index], type)).join()}\n`;
  return { write: (rows) => appendFileSync(path, rows.map(line).join('')), finish: () => undefined };
}

/** Null is empty, an empty text is quoted. No text begins with what makes spreadsheets calculate; numbers may be negative. */
export function csvCell(value: unknown, { kind }: ColumnType): string {
  if (value === null) return '';
  if (kind !== 'text') return String(value);
  const text = String(value);
  const safe = /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return safe === '' || /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const DECIMAL_DIGITS = 38;
/** Of the column that takes the amounts with more digits, as JSON; null in nearly all rows. */
const OVERSIZED = 'oversized';

const DECIMAL = {
  type: 'FIXED_LEN_BYTE_ARRAY',
  type_length: 16,
  converted_type: 'DECIMAL',
  precision: DECIMAL_DIGITS,
} as const;
const ELEMENTS = {
  integer: { type: 'INT64' },
  double: { type: 'DOUBLE' },
  boolean: { type: 'BOOLEAN' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
} as const;

/** Each `write` makes a row group. */
function parquetFile(path: string, columns: readonly Column[]): TableFile {
  const element = (type: ColumnType) =>
    type.kind === 'amount' ? { ...DECIMAL, scale: type.scale } : ELEMENTS[type.kind];
  const writer = new ParquetWriter({
    writer: fileWriter(path),
    schema: [
      { name: 'root', num_children: columns.length + 1 },
      ...columns.map(({ name, type }) => ({ name, ...element(type), repetition_type: 'OPTIONAL' as const })),
      { name: OVERSIZED, ...ELEMENTS.text, repetition_type: 'OPTIONAL' },
    ],
  });
  return {
    write(rows) {
      const columnData: ColumnSource[] = columns.map(({ name, type }, index) => ({
        name,
        data: rows.map((row) => parquetValue(row[index], type)),
      }));
      columnData.push({ name: OVERSIZED, data: rows.map((row) => oversizedOf(row, columns)) });
      writer.write({ columnData, rowGroupSize: rows.length });
    },
    finish: () => void writer.finish(),
  };
}

function parquetValue(value: unknown, type: ColumnType): unknown {
  if (value === null) return null;
  if (type.kind === 'integer') return BigInt(String(value));
  return type.kind === 'amount' ? unscaled(String(value), type.scale) : value;
}

/**
 * The digits of a decimal number with `scale` of them after the point.
 *
 * @returns null when they are too many
 * @throws SyntaxError when it is no such number: nothing is rounded
 */
export function unscaled(text: string, scale: number): bigint | null {
  const [whole = '', fraction = ''] = text.split('.');
  const digits = `${whole}${fraction.replace(/0+$/, '').padEnd(scale, '0')}`;
  if (digits.length - whole.length > scale)
    throw new SyntaxError(`${text} has more than ${scale} digits after the point`);
  const value = BigInt(digits);
  return (value < 0n ? -value : value) < 10n ** BigInt(DECIMAL_DIGITS) ? value : null;
}

/** Amounts of a row that no DECIMAL holds, such as an untrusted token can report. */
function oversizedOf(row: Row, columns: readonly Column[]): string | null {
  const entries = columns.flatMap(({ name, type }, index) => {
    const value = row[index];
    const isOversized = type.kind === 'amount' && value !== null && unscaled(String(value), type.scale) === null;
    return isOversized ? [[name, String(value)]] : [];
  });
  return entries.length === 0 ? null : JSON.stringify(Object.fromEntries(entries));
}
