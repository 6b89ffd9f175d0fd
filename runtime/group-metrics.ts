import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';

/** What a registry of one process holds, as `getMetricsAsJSON` gives it. */
export type ProcessMetrics = MetricObjectWithValues<MetricValue<string>>[];

/** Kinds that only grow: without those of processes that ended, a sum would fall, which reads as a restart of all. */
const GROWING: readonly unknown[] = ['counter', 'histogram'];

/** Metrics of a group of processes as those of one. Counts of processes that ended stay in the sums. */
export class GroupMetrics {
  readonly #latest = new Map<number, ProcessMetrics>();
  #ended: Promise<ProcessMetrics> = Promise.resolve([]);

  /** Takes the newest figures of a process; those before stand until then. */
  record(id: number, metrics: ProcessMetrics): void {
    this.#latest.set(id, metrics);
  }

  /** Keeps the last counts of a process that ended. */
  end(id: number): void {
    const last = this.#latest.get(id);
    this.#latest.delete(id);
    if (!last) return;
    const counts = last.filter(({ type }) => GROWING.includes(type));
    this.#ended = this.#ended.then((earlier) => AggregatorRegistry.aggregate([earlier, counts]).getMetricsAsJSON());
  }

  /** @returns Prometheus text; each figure is the sum, the most or the mean over processes, as the metric says */
  async text(): Promise<string> {
    const ended = await this.#ended;
    return AggregatorRegistry.aggregate([...this.#latest.values(), ended]).metrics();
  }
}
