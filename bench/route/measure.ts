/** Durations of one kind of answer, milliseconds. */
export class Samples {
  readonly #durations: number[] = [];

  add(milliseconds: number): void {
    this.#durations.push(milliseconds);
  }

  get count(): number {
    return this.#durations.length;
  }

  get mean(): number {
    return this.#durations.reduce((total, each) => total + each, 0) / this.#durations.length;
  }

  /** @param part 0..1, as 0.99 */
  quantile(part: number): number {
    const sorted = this.#durations.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
  }
}

/** A table in plain text, columns aligned to the right but the first. */
export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  ');
  return [header, ...rows].map(line).join('\n');
}
