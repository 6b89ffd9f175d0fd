import type { StreamConfig } from '../../config/stream-schema.ts';
import { keysInUse } from '../../db/api-keys.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { Logger } from '../../runtime/logger.ts';
import { startRepeating } from '../../runtime/repeat.ts';
import { tooManyRequests, unavailable, waitSecsCeil } from '../errors.ts';
import type { ByeReason } from './bye.ts';

/** A connection from before its handshake until its socket is closed. */
export interface Connection {
  readonly transport: 'sse' | 'websocket';
  /** Address of the client. */
  readonly address: string;
  /** The key that it counts for; null: it counts for its address. */
  keyId: string | null;
  /** Ends the connection from our side. */
  readonly end: (reason: ByeReason) => void;
}

/** Nothing more is sent to a client while this much is unsent. */
export const MAX_UNSENT_BYTES = 256 * 1024;
/** How long a rejected client should wait. It is not known when a connection of another client ends. */
const RETRY_MS = 10_000;
/** How often keys are checked again after a connection opened, and so how long a revoked key may keep one open. */
const CHECK_EVERY_MS = 60_000;

/** Connections per Trading API key; further ones get 429. */
const MAX_PER_KEY = 200;

/** The open streams of this process, SSE and WebSocket together. Connections beyond the bounds are rejected. */
export class Connections {
  readonly #config: StreamConfig;
  readonly #open = new Set<Connection>();
  #isOver = false;

  constructor(config: StreamConfig) {
    this.#config = config;
  }

  get size(): number {
    return this.#open.size;
  }

  get byTransport(): Readonly<Record<Connection['transport'], number>> {
    const counts = { sse: 0, websocket: 0 };
    for (const { transport } of this.#open) counts[transport] += 1;
    return counts;
  }

  /** Keys that have connections. */
  get keyIds(): string[] {
    return [...new Set([...this.#open].flatMap(({ keyId }) => keyId ?? []))];
  }

  /**
   * Takes a connection into the count, until it is removed.
   *
   * @throws ApiError 503 when all are in use or the process stops, 429 when its key or address has too many
   */
  add(connection: Connection): void {
    if (this.#isOver) throw unavailable(new Error('the process stops'));
    if (this.#open.size >= this.#config.connections) {
      const headers = { 'Retry-After': String(waitSecsCeil(RETRY_MS)) };
      throw unavailable(new Error('all connections of the streams are in use'), headers);
    }
    this.#assertRoom(connection);
    this.#open.add(connection);
  }

  /** Counts a connection for a key from now on. @throws ApiError 429, and then it counts as before */
  useKey(connection: Connection, keyId: string): void {
    this.#assertRoom({ ...connection, keyId });
    connection.keyId = keyId;
  }

  /** Takes a connection out of the count. May be called more than once. */
  remove(connection: Connection): void {
    this.#open.delete(connection);
  }

  /** Ends all connections and takes no more; with a key, only ends the connections of that key. */
  end(reason: ByeReason, keyId?: string): void {
    if (keyId === undefined) this.#isOver = true;
    for (const each of [...this.#open]) if (keyId === undefined || each.keyId === keyId) each.end(reason);
  }

  /** A connection with a key counts for the key, one without for its address. */
  #assertRoom({ keyId, address }: Pick<Connection, 'keyId' | 'address'>): void {
    const most = keyId === null ? this.#config.connectionsPerAddress : MAX_PER_KEY;
    let count = 0;
    for (const each of this.#open) if (each.keyId === keyId && (keyId !== null || each.address === address)) count += 1;
    if (count >= most) throw tooManyRequests(RETRY_MS);
  }
}

/**
 * Checks the keys of open connections again and again, all in one query, and ends the connections of revoked keys.
 * While the database is unavailable, keys stay valid.
 *
 * @returns stops the checks
 */
export function startKeyChecks(
  connections: Connections,
  database: Queryable,
  logger: Logger,
  everyMs = CHECK_EVERY_MS,
): () => void {
  const check = async () => {
    const { keyIds } = connections;
    if (keyIds.length === 0) return;
    const inUse = await keysInUse(database, keyIds);
    for (const keyId of keyIds) if (!inUse.has(keyId)) connections.end('key_revoked', keyId);
  };
  const guarded = () => check().catch((error) => logger.warn({ err: error }, 'failed to check the keys of streams'));
  return startRepeating(guarded, everyMs);
}
