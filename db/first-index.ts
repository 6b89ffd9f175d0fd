import type pg from 'pg';
import { pause } from '../runtime/pause.ts';
import { servedSchema } from './served-schema.ts';
import type { Queryable } from './transaction.ts';

/** Channel on which Postgres notifies when readers are switched to an index. */
const CHANNEL = 'index_served';
/** Pause between polls. They supplement notifications, which a pooler between us and Postgres may lose. */
const POLL_MS = 5_000;
/** Pause between polls of a replica, which cannot listen, or of an unreachable database. */
const SHORT_POLL_MS = 1_000;

/** Wakes the processes that wait for the first index, when the transaction commits. */
export async function announceIndex(client: Queryable): Promise<void> {
  await client.query('SELECT pg_notify($1, $2)', [CHANNEL, '']);
}

/**
 * Resolves as soon as the database has an index, or when the signal aborts. Never rejects: an unreachable database is
 * polled until it responds.
 *
 * @param onWait called once, when there is no index yet or the database is unreachable
 * @param pollMs pause between polls while notifications can be received; only tests set it
 */
export async function waitForIndex(
  database: pg.Pool,
  signal: AbortSignal,
  { onWait, pollMs = POLL_MS }: { readonly onWait?: () => void; readonly pollMs?: number } = {},
): Promise<void> {
  const schema = await servedSchema(database).catch(() => null);
  if (schema !== null) return;
  onWait?.();
  while (!signal.aborted) {
    const isServed = await listenForIndex(database, signal, pollMs).catch(() => false);
    if (isServed) return;
    await pause(SHORT_POLL_MS, signal);
  }
}

/** @returns false when the signal aborts, or when notifications cannot be received and there is no index now */
async function listenForIndex(database: pg.Pool, signal: AbortSignal, pollMs: number): Promise<boolean> {
  const client = await database.connect();
  let wake = new AbortController();
  client.on('notification', () => wake.abort());
  // The next query rejects with this error.
  client.on('error', () => wake.abort());
  try {
    const isListening = await client.query(`LISTEN ${CHANNEL}`).then(
      () => true,
      () => false,
    );
    while (!signal.aborted) {
      wake = new AbortController();
      if ((await servedSchema(client)) !== null) return true;
      if (!isListening) return false;
      await pause(pollMs, AbortSignal.any([signal, wake.signal]));
    }
    return false;
  } finally {
    // `true` closes the connection: in the pool, its session would still listen.
    client.release(true);
  }
}
