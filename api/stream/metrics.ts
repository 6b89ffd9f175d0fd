import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

const BUCKETS_SECS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export type StreamMetrics = ReturnType<typeof streamMetrics>;

/**
 * Registers metrics of connections, and of the time from a head that is seen until its changes are written.
 *
 * @param countConnections counts open connections by transport
 */
export function streamMetrics(
  registry: Registry,
  countConnections: () => Readonly<Record<string, number>>,
  chainIds: readonly number[],
) {
  const registers = [registry];
  const counter = <L extends string = 'chain'>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = (name: string, help: string) =>
    new Histogram({ name, help, labelNames: ['chain'], buckets: BUCKETS_SECS, registers });
  new Gauge({
    name: 'stream_connections',
    help: 'Open connections of streams',
    labelNames: ['transport'],
    registers,
    collect() {
      for (const [transport, count] of Object.entries(countConnections())) this.set({ transport }, count);
    },
  });
  const metrics = {
    read: histogram('stream_read_seconds', 'Time from a head that is seen until the requested pools are read at it'),
    written: histogram('stream_written_seconds', 'Time from a head that is seen until its changes are written'),
    terminations: counter('stream_terminations_total', 'Connections that were terminated, by reason', [
      'chain',
      'reason',
    ]),
    resumes: counter('stream_resumes_total', 'Connections that resumed after an earlier one', ['chain']),
    gaps: counter('stream_gaps_total', 'Connections that resumed with other pools', ['chain']),
  };
  for (const chain of chainIds) {
    for (const reason of ['unread', 'timeout']) metrics.terminations.inc({ chain, reason }, 0);
    for (const each of [metrics.resumes, metrics.gaps]) each.inc({ chain }, 0);
  }
  return metrics;
}
