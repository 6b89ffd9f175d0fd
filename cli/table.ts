/** Rows as text in aligned columns, headings first. */
export function formatTable(headings: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const lines = [headings, ...rows].map((row) => row.map((cell) => (cell === null ? '-' : String(cell))));
  const widths = headings.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const format = (line: readonly string[]) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ');
  return `${lines.map((line) => format(line).trimEnd()).join('\n')}\n`;
}
