import { Hono } from 'hono';
import { Registry } from 'prom-client';
import type { StreamConfig } from '../config/stream-schema.ts';
import { GroupMetrics, type ProcessMetrics } from '../runtime/group-metrics.ts';
import { mountReadiness, type Readiness } from '../runtime/health.ts';
import { startServer } from '../runtime/http-server.ts';
import type { Logger } from '../runtime/logger.ts';
import type { ProcessCalls } from '../runtime/process-calls.ts';
import { ProcessGroup } from '../runtime/process-group.ts';
import { stopOnSignal } from '../runtime/shutdown.ts';
import { type ConnectionBook, ConnectionCounts, type ConnectionOwner } from './stream/connection-counts.ts';

/** A process that takes longer shows its figures of the last time, and does not count as ready. */
const ANSWER_TIMEOUT_MS = 3_000;

export interface GroupSettings {
  readonly count: number;
  readonly host: string;
  readonly operationsPort: number | undefined;
  readonly stream: StreamConfig;
  readonly logger: Logger;
}

/** Leads processes that serve the API: their metrics and readiness as one, and the bounds of their connections together. */
export async function leadProcesses({ count, host, operationsPort, stream, logger }: GroupSettings): Promise<void> {
  const counts = new ConnectionCounts(stream);
  const metrics = new GroupMetrics();
  const group = new ProcessGroup({
    count,
    logger,
    onStart: (id, calls) => {
      answerBook(calls, counts.bookOf(id));
      calls.answer('metrics', text);
    },
    onEnd: (id) => {
      counts.end(id);
      metrics.end(id);
    },
  });
  const text = async () => {
    await group.callAll<ProcessMetrics>('metrics', ANSWER_TIMEOUT_MS, (answer, id) => metrics.record(id, answer));
    return metrics.text();
  };
  stopOnSignal(logger, [['processes', () => group.stop()]]);
  await group.start();
  if (operationsPort === undefined) return;
  const app = new Hono();
  mountReadiness(app, { contentType: Registry.PROMETHEUS_CONTENT_TYPE, metrics: text }, () => readiness(group, count));
  await startServer(app, host, operationsPort, undefined, null, 'OPERATIONS_PORT');
}

type GroupReadiness = Readiness & { readonly processes: { readonly configured: number; readonly answering: number } };

/** What one process says, a ready one if there is any: the others are only short of what it has, too. */
async function readiness(group: ProcessGroup, configured: number): Promise<GroupReadiness> {
  const answers: Readiness[] = [];
  await group.callAll<Readiness>('readiness', ANSWER_TIMEOUT_MS, (answer) => answers.push(answer));
  const best = answers.find(({ ready }) => ready) ?? answers[0];
  const none = { ready: false, failures: { processes: 'no answer in time' } };
  return { ...(best ?? none), processes: { configured, answering: answers.length } };
}

function answerBook(calls: ProcessCalls, book: ConnectionBook): void {
  calls.answer('take', ({ id, owner }: BookEntry) => book.take(id, owner));
  calls.answer('move', ({ id, owner }: BookEntry) => book.move(id, owner));
  calls.answer('release', (id: number) => book.release(id));
}

interface BookEntry {
  readonly id: number;
  readonly owner: ConnectionOwner;
}

/** The book of connections of the process that leads this one. */
export function bookOver(calls: ProcessCalls, logger: Logger): ConnectionBook {
  return {
    take: (id, owner) => calls.call('take', { id, owner }),
    move: (id, owner) => calls.call('move', { id, owner }),
    release: (id) =>
      void calls.call('release', id).catch((error) => logger.error({ err: error }, 'a connection stays counted')),
  };
}
