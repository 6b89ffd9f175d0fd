import { appendFileSync, closeSync, fsyncSync, openSync, renameSync, writeFileSync } from 'node:fs';
import { type ColumnSource, fileWriter, ParquetWriter } from 'hyparquet-writer';
import { absBigint } from '../../protocol/fixed-point.ts';
import type { Column, ColumnType } from './columns.ts';

export const FORMATS = ['parquet', 'csv'] as const;
export type Format = (typeof FORMATS)[number];

/** A row as the driver returns it, with numbers that may be large as text. */
export type Row = readonly unknown[];

/** A file that is being written. It gets its final name when it is complete, so a file with that name is complete. */
export interface TableFile {
  readonly write: (rows: readonly Row[]) => void;
  readonly finish: () => void;
}

/** Begins a file. Replaces the incomplete file that a killed run has left. */
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

/** Formats a cell. Null is empty, and an empty text is quoted. Texts that spreadsheets would calculate are escaped. */
export function csvCell(value: unknown, { kind }: ColumnType): string {
  if (value === null) return '';
  if (kind !== 'text') return String(value);
  const text = String(value);
  const safe = /^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text;
  return safe === '' || /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const DECIMAL_DIGITS = 38;
/** Name of the column that holds amounts with more digits, as JSON. It is null in nearly all rows. */
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

/** Begins a Parquet file. Each `write` makes one row group. */
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
 * Parses a decimal number to an integer of its digits, with `scale` of them after the point. Nothing is rounded.
 *
 * @returns null when there are too many digits for a DECIMAL
 * @throws SyntaxError when the text is not such a number, or has more digits after the point
 */
export function unscaled(text: string, scale: number): bigint | null {
  const [whole = '', fraction = ''] = text.split('.');
  const digits = `${whole}${fraction.replace(/0+$/, '').padEnd(scale, '0')}`;
  if (digits.length - whole.length > scale)
    throw new SyntaxError(`${text} has more than ${scale} digits after the point`);
  const value = BigInt(digits);
  return absBigint(value) < 10n ** BigInt(DECIMAL_DIGITS) ? value : null;
}

/** JSON of the amounts of a row that do not fit into a DECIMAL. Untrusted tokens can report such amounts. */
function oversizedOf(row: Row, columns: readonly Column[]): string | null {
  const entries = columns.flatMap(({ name, type }, index) => {
    const value = row[index];
    const isOversized = type.kind === 'amount' && value !== null && unscaled(String(value), type.scale) === null;
    return isOversized ? [[name, String(value)]] : [];
  });
  return entries.length === 0 ? null : JSON.stringify(Object.fromEntries(entries));
}
