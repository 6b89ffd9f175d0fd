import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ConnectionLimits } from './connection-limits.ts';
import type { ChainObserver } from './types.ts';

const BUCKETS_SECS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface StreamMetrics {
  readonly observerOf: (chainId: number) => ChainObserver;
  /** A client of this chain was terminated: it answered no pings. */
  countSilent(chainId: number): void;
}

/** Connections, what became of them, and the time from a head that is seen until its changes are written. */
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
  const read = new Histogram({
    name: 'stream_read_seconds',
    help: 'Time from a head that is seen until the requested pools are read at it',
    ...times,
  });
  const written = new Histogram({
    name: 'stream_written_seconds',
    help: 'Time from a head that is seen until its changes are written to all connections',
    ...times,
  });
  const terminations = new Counter({
    name: 'stream_terminations_total',
    help: 'Connections that were terminated, by reason',
    labelNames: ['chain', 'reason'],
    registers,
  });
  const resumes = new Counter({
    name: 'stream_resumes_total',
    help: 'Connections that resumed after the last message of an earlier one',
    labelNames,
    registers,
  });
  const gaps = new Counter({
    name: 'stream_gaps_total',
    help: 'Connections that could not resume after an earlier one',
    labelNames,
    registers,
  });
  for (const chainId of chainIds) {
    const chain = String(chainId);
    for (const reason of ['unread', 'silent']) terminations.inc({ chain, reason }, 0);
    for (const counter of [resumes, gaps]) counter.inc({ chain }, 0);
  }
  return {
    observerOf: (chainId) => {
      const chain = String(chainId);
      return {
        resumed: () => resumes.inc({ chain }),
        gap: () => gaps.inc({ chain }),
        terminated: () => terminations.inc({ chain, reason: 'unread' }),
        written: (readMs, writtenMs) => {
          read.observe({ chain }, readMs / 1_000);
          written.observe({ chain }, writtenMs / 1_000);
        },
      };
    },
    countSilent: (chainId) => terminations.inc({ chain: String(chainId), reason: 'silent' }),
  };
}
