/** Counts of answers by kind of request and status. */
export class Tally {
  readonly #counts = new Map<string, Map<string, number>>();

  add(kind: string, outcome: string): void {
    const row = this.#counts.get(kind) ?? new Map<string, number>();
    row.set(outcome, (row.get(outcome) ?? 0) + 1);
    this.#counts.set(kind, row);
  }

  /** How often this came out, over all kinds. */
  count(outcome: string): number {
    return this.#counts.values().reduce((sum, row) => sum + (row.get(outcome) ?? 0), 0);
  }

  get kinds(): readonly string[] {
    return [...this.#counts.keys()];
  }

  /** A Markdown table: a row for each kind, a column for each outcome. */
  toString(): string {
    const outcomes = [...new Set(this.#counts.values().flatMap((row) => row.keys()))].sort();
    const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
    const rows = [...this.#counts].map(([kind, row]) => {
      const cells = outcomes.map((outcome) => row.get(outcome) ?? 0);
      return line([kind, ...cells, cells.reduce((sum, n) => sum + n, 0)]);
    });
    const totals = outcomes.map((outcome) => this.count(outcome));
    return [
      line(['request', ...outcomes, 'all']),
      line(['---', ...outcomes.map(() => '---:'), '---:']),
      ...rows,
      line(['all', ...totals, totals.reduce((sum, n) => sum + n, 0)]),
    ].join('\n');
  }
}
