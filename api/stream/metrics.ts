import { Counter, Histogram, type Registry } from 'prom-client';

const BUCKETS_SECS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export type StreamMetrics = ReturnType<typeof streamMetrics>;

/** Registers metrics of resumed connections, and of the time from a head that is seen until its changes are written. */
export function streamMetrics(registry: Registry, chainIds: readonly number[]) {
  const registers = [registry];
  const counter = (name: string, help: string) => new Counter({ name, help, labelNames: ['chain'], registers });
  const histogram = (name: string, help: string) =>
    new Histogram({ name, help, labelNames: ['chain'], buckets: BUCKETS_SECS, registers });
  const metrics = {
    read: histogram('stream_read_seconds', 'Time from a head that is seen until the requested pools are read at it'),
    written: histogram('stream_written_seconds', 'Time from a head that is seen until its changes are written'),
    resumes: counter('stream_resumes_total', 'Connections that resumed after an earlier one'),
    gaps: counter('stream_gaps_total', 'Connections that resumed with other pools'),
  };
  for (const chain of chainIds) for (const each of [metrics.resumes, metrics.gaps]) each.inc({ chain }, 0);
  return metrics;
}
