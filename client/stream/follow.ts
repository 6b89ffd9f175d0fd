import { backoffMs, timerMs, wait } from '../deadline.ts';
import { ConnectionError, ResponseError, UnauthorizedError } from '../rest/errors.ts';
import { holdBatch } from './batch.ts';
import type { HeldQuotes } from './held-quotes.ts';
import type { Connection, StreamMessage, Transport, TransportName } from './types.ts';

/** Longest pause before a connection that ended is opened again. */
const RECONNECT_MS = 500;
/** How often batches are requested, and after which time the streams are tried again. */
const BATCH_EVERY_MS = 2_000;
const BATCHES_MS = 30_000;
/**
 * A connection on which the service answers between messages is dead after this silence, three times as long as usual.
 */
const ANSWERING_SILENCE_MS = 6_000;
/**
 * Another one is, as a heartbeat comes every 15 s, and one without a message yet, which may take a read of the chain.
 */
const SILENCE_MS = 20_000;
/** Statuses after which another attempt would be rejected, too. */
const FINAL_STATUSES: readonly number[] = [400, 401, 404];

export interface Following {
  readonly connection: Connection;
  /** Takes what comes. */
  readonly held: HeldQuotes;
  /** Called after each change of what is held. */
  readonly notify: () => void;
  readonly signal: AbortSignal;
}

/**
 * Keeps the quotes current over the first transport that connects, or over batch requests while no transport does.
 *
 * @throws the reason of the signal, or a ResponseError that another attempt cannot change
 */
export async function follow(
  following: Following,
  transports: readonly (readonly [TransportName, Transport])[],
): Promise<never> {
  for (let index = 0; ; ) {
    const [name, transport] = transports[index] ?? [];
    if (!name || !transport) {
      await requestBatches(following);
      // An attempt may take long, and nothing is known to be current meanwhile.
      following.held.disconnect('Streams are tried again');
      following.notify();
      index = 0;
      continue;
    }
    const { isRefused, retryMs } = await followOne(following, name, transport);
    if (isRefused) index += 1;
    else await wait(retryMs ?? backoffMs(0, RECONNECT_MS, RECONNECT_MS), following.signal);
  }
}

/** Follows one connection to its end. @returns whether it ended before a message, and how long to wait, if told */
async function followOne(
  { connection, held, notify, signal }: Following,
  name: TransportName,
  transport: Transport,
): Promise<{ readonly isRefused: boolean; readonly retryMs: number | undefined }> {
  let last: StreamMessage | undefined;
  held.connect(name);
  let isAnswering = false;
  const { silenceMs = SILENCE_MS } = connection;
  const error: unknown = await whileHeard(silenceMs, signal, (heard, limited) => {
    const take = (message: StreamMessage | null) => {
      isAnswering ||= message === null;
      if (message || last) heard(connection.silenceMs ?? (isAnswering ? ANSWERING_SILENCE_MS : SILENCE_MS));
      if (!message) return held.confirm();
      last = message;
      held.take(message);
      notify();
    };
    return transport(connection, held.resumeId, take, limited);
  }).catch((reason: unknown) => reason);
  held.disconnect(messageOf(error));
  notify();
  signal.throwIfAborted();
  if (isFinal(error)) throw error;
  if (last?.event === 'bye' && last.reason === 'key_revoked') throw keyRevoked();
  return { isRefused: last === undefined, retryMs: last?.retryMs };
}

/** Requests batches until it is time to try the streams again. */
async function requestBatches({ connection, held, notify, signal }: Following): Promise<void> {
  for (const endsAt = performance.now() + BATCHES_MS; performance.now() < endsAt; ) {
    let pauseMs = BATCH_EVERY_MS;
    const silenceMs = connection.silenceMs ?? ANSWERING_SILENCE_MS;
    const silence = setTimeout(() => {
      held.disconnect(`Nothing came for ${silenceMs} ms`);
      notify();
    }, timerMs(silenceMs));
    try {
      await whileHeard(connection.silenceMs ?? SILENCE_MS, signal, (_, limited) =>
        holdBatch(connection, held, limited),
      );
    } catch (error) {
      signal.throwIfAborted();
      if (isFinal(error)) throw error;
      if (error instanceof ResponseError) pauseMs = Math.max(pauseMs, error.retryAfterMs ?? 0);
      held.disconnect(messageOf(error));
    } finally {
      clearTimeout(silence);
    }
    notify();
    await wait(pauseMs, signal);
  }
}

/**
 * Runs work with a signal that aborts when the given one does, when nothing is heard for `firstMs`, or as long as the
 * work allowed when it heard something, and at its end.
 */
async function whileHeard<T>(
  firstMs: number,
  signal: AbortSignal,
  work: (heard: (silenceMs: number) => void, signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const abort = () => controller.abort(signal.reason);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const heard = (silenceMs: number) => {
    clearTimeout(timer);
    const abortSilent = () => controller.abort(new ConnectionError(`Nothing came for ${silenceMs} ms`));
    timer = setTimeout(abortSilent, timerMs(silenceMs));
  };
  signal.throwIfAborted();
  signal.addEventListener('abort', abort);
  heard(firstMs);
  try {
    return await work(heard, controller.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    controller.abort();
  }
}

const isFinal = (error: unknown): boolean => error instanceof ResponseError && FINAL_STATUSES.includes(error.status);
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const keyRevoked = () =>
  new UnauthorizedError('The key was revoked', { status: 401, code: null, requestId: null, retryAfterMs: null });
