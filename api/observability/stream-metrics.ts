import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ConnectionLimits } from '../stream/connection-limits.ts';
import type { StreamObserver } from '../stream/types.ts';

const BUCKETS_SECS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface StreamMetrics {
  readonly observer: StreamObserver;
  /** A client of this chain was cut: it answered no pings. */
  countSilent(chainId: number): void;
}

/** Connections, what became of them, and the time from a head that is seen to what streams tell of it. */
export function streamMetrics(registry: Registry, limits: ConnectionLimits, chainIds: Iterable<number>): StreamMetrics {
  const registers = [registry];
  const labelNames = ['chain'] as const;
  new Gauge({
    name: 'stream_connections',
    help: 'Open connections of streams',
    labelNames: ['transport'],
    registers,
    collect() {
      for (const [transport, count] of Object.entries(limits.byTransport)) this.set({ transport }, count);
    },
  });
  const times = { labelNames, buckets: BUCKETS_SECS, registers };
  const ready = new Histogram({
    name: 'stream_ready_seconds',
    help: 'Time from a head that is seen until the requested pools are read at it',
    ...times,
  });
  const written = new Histogram({
    name: 'stream_written_seconds',
    help: 'Time from a head that is seen until its changes are written to all connections',
    ...times,
  });
  const cuts = new Counter({
    name: 'stream_cuts_total',
    help: 'Connections that were cut, by reason',
    labelNames: ['chain', 'reason'],
    registers,
  });
  const resumes = new Counter({
    name: 'stream_resumes_total',
    help: 'Connections that went on after the last message of an earlier one',
    labelNames,
    registers,
  });
  const gaps = new Counter({
    name: 'stream_gaps_total',
    help: 'Connections that could not go on after an earlier one',
    labelNames,
    registers,
  });
  for (const chainId of chainIds) {
    const chain = String(chainId);
    for (const reason of ['unread', 'silent']) cuts.inc({ chain, reason }, 0);
    for (const counter of [resumes, gaps]) counter.inc({ chain }, 0);
  }
  return {
    observer: {
      resumed: (chainId) => resumes.inc({ chain: String(chainId) }),
      gap: (chainId) => gaps.inc({ chain: String(chainId) }),
      cut: (chainId) => cuts.inc({ chain: String(chainId), reason: 'unread' }),
      told: (chainId, readyMs, writtenMs) => {
        ready.observe({ chain: String(chainId) }, readyMs / 1_000);
        written.observe({ chain: String(chainId) }, writtenMs / 1_000);
      },
    },
    countSilent: (chainId) => cuts.inc({ chain: String(chainId), reason: 'silent' }),
  };
}
