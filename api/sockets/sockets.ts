import { Counter, Gauge, type Registry } from 'prom-client';
import type { StreamConfig } from '../../config/stream-schema.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { Logger } from '../../runtime/logger.ts';
import { Connections, startKeyChecks } from './connections.ts';

/** Why a connection was terminated: what was sent stays unread, or pings unanswered and responses unread. */
const TERMINATIONS = ['unread', 'timeout'] as const;

/** The long-lived connections of this process. */
export interface Sockets {
  readonly connections: Connections;
  /** Counts a client that was terminated. */
  countTermination(chainId: number, reason: (typeof TERMINATIONS)[number]): void;
}

export interface SocketsDeps {
  readonly chains: ReadonlyMap<number, unknown>;
  readonly config: StreamConfig;
  readonly database: Queryable;
  readonly metrics: Registry;
  readonly logger: Logger;
}

/** Registers the metrics of connections, and starts the checks of their clients' keys. */
export function startSockets({ chains, config, database, metrics, logger }: SocketsDeps) {
  const connections = new Connections(config);
  new Gauge({
    name: 'stream_connections',
    help: 'Open connections of streams',
    labelNames: ['transport'],
    registers: [metrics],
    collect() {
      for (const [transport, count] of Object.entries(connections.byTransport)) this.set({ transport }, count);
    },
  });
  const terminations = new Counter({
    name: 'stream_terminations_total',
    help: 'Connections that were terminated, by reason',
    labelNames: ['chain', 'reason'],
    registers: [metrics],
  });
  for (const chain of chains.keys()) for (const reason of TERMINATIONS) terminations.inc({ chain, reason }, 0);
  const stopKeyChecks = startKeyChecks(connections, database, logger);
  return {
    connections,
    countTermination: (chain: number, reason: string) => terminations.inc({ chain, reason }),
    /** Sends `bye` to all clients and takes no more connections. */
    stop() {
      stopKeyChecks();
      connections.end('shutdown');
    },
  } satisfies Sockets & { stop(): void };
}
