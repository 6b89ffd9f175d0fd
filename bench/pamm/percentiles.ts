/** The value below which the given share of the sorted sample lies. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export type Summary = { readonly count: number; readonly p50: number; readonly p99: number; readonly max: number };

/** Summary of times in milliseconds, rounded to a hundredth. */
export function summarize(times: readonly number[]): Summary {
  const sorted = times.toSorted((a, b) => a - b);
  const rounded = (value: number) => Math.round(value * 100) / 100;
  return {
    count: sorted.length,
    p50: rounded(percentile(sorted, 0.5)),
    p99: rounded(percentile(sorted, 0.99)),
    max: rounded(sorted.at(-1) ?? Number.NaN),
  };
}
