/** Figures of one kind, as durations in milliseconds. */
export class Samples {
  readonly #values: number[];

  constructor(values: Iterable<number> = []) {
    this.#values = [...values];
  }

  add(value: number): void {
    this.#values.push(value);
  }

  get count(): number {
    return this.#values.length;
  }

  get sum(): number {
    return this.#values.reduce((total, each) => total + each, 0);
  }

  get mean(): number {
    return this.sum / this.count;
  }

  get median(): number {
    return this.quantile(0.5);
  }

  get p99(): number {
    return this.quantile(0.99);
  }

  get max(): number {
    return this.quantile(1);
  }

  /** @param part 0..1, as 0.99 @returns NaN without a value */
  quantile(part: number): number {
    const sorted = this.#values.toSorted((a, b) => a - b);
    return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? Number.NaN;
  }
}
