const startedAt = performance.now();

export const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Prints a step with the seconds since the start. */
export const say = (line: string): void =>
  print(`${((performance.now() - startedAt) / 1_000).toFixed(0).padStart(5)} s  ${line}`);

/** Prints a table in plain text, columns aligned to the right but the first. */
export function printTable(header: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    widths
      .map((width, column) => (column === 0 ? (cells[0] ?? '').padEnd(width) : (cells[column] ?? '').padStart(width)))
      .join('  ');
  for (const row of [header, ...rows]) print(line(row).trimEnd());
}
