/**
 * Formats records as text in aligned columns, headings first.
 *
 * @param columns fields by the heading above them, such as `{ CHAIN: 'chainId' }`
 */
export function formatTable(columns: Readonly<Record<string, string>>, rows: readonly object[]): string {
  const fields = Object.values(columns);
  const cells = rows.map((row) => fields.map((field) => formatCell((row as Record<string, unknown>)[field])));
  const lines = [Object.keys(columns), ...cells];
  const widths = fields.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const format = (line: readonly string[]) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return `${lines.map((line) => format(line).trimEnd()).join('\n')}\n`;
}

function formatCell(value: unknown): string {
  if (value === null) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return value instanceof Date ? value.toISOString() : String(value);
}
