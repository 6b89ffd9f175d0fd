import type { StreamConfig } from '../../config/stream-schema.ts';
import { keysInUse } from '../../db/api-keys.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { Logger } from '../../runtime/logger.ts';
import { startRepeating } from '../../runtime/repeat.ts';
import { tooManyRequests, unavailable, waitSecsCeil } from '../errors.ts';
import { type ConnectionBook, ConnectionCounts, type ConnectionOwner, type Refusal } from './connection-counts.ts';
import type { ByeReason } from './types.ts';

/** A connection from before its handshake until its socket is closed. */
export interface Connection {
  readonly transport: 'sse' | 'websocket';
  /** Of the client. */
  readonly address: string;
  /** The key that it counts for; null: it counts for its address. */
  keyId: string | null;
  /** Ends it from our side. */
  readonly end: (reason: ByeReason) => void;
}

/** When a refused client may try again; when another's connection ends is not known. */
const RETRY_MS = 10_000;
/** A revoked key counts no longer after this time: it was valid when the connection opened. */
const CHECK_EVERY_MS = 60_000;

/** The open streams of this process, SSE and WebSocket together. Those beyond the bounds are refused. */
export class Connections {
  readonly #book: ConnectionBook;
  readonly #open = new Map<Connection, number>();
  #lastId = 0;
  #isOver = false;

  /** @param book counts those of other processes, too; default: of this one alone */
  constructor(config: StreamConfig, book: ConnectionBook = new ConnectionCounts(config).bookOf(0)) {
    this.#book = book;
  }

  get size(): number {
    return this.#open.size;
  }

  get byTransport(): Readonly<Record<Connection['transport'], number>> {
    const counts = { sse: 0, websocket: 0 };
    for (const { transport } of this.#open.keys()) counts[transport] += 1;
    return counts;
  }

  /** Keys that have connections. */
  get keyIds(): string[] {
    return [...new Set([...this.#open.keys()].flatMap(({ keyId }) => keyId ?? []))];
  }

  /**
   * Takes a connection into the count, until it is removed.
   *
   * @throws ApiError 503 when all are in use or the process stops, 429 when its key or address has too many
   */
  async add(connection: Connection): Promise<void> {
    this.#lastId += 1;
    const id = this.#lastId;
    assertTaken(await this.#book.take(id, ownerOf(connection)));
    this.#open.set(connection, id);
    if (!this.#isOver) return;
    this.remove(connection);
    throw unavailable(new Error('the process stops'));
  }

  /** Counts a connection for a key from now on. @throws ApiError 429; it counts as before then */
  async useKey(connection: Connection, keyId: string): Promise<void> {
    const id = this.#open.get(connection);
    if (id !== undefined) assertTaken(await this.#book.move(id, { ...ownerOf(connection), keyId }));
    connection.keyId = keyId;
  }

  /** Takes a connection out of the count, once however often it is called. */
  remove(connection: Connection): void {
    const id = this.#open.get(connection);
    this.#open.delete(connection);
    if (id !== undefined) this.#book.release(id);
  }

  /** Ends all connections and takes no more, or ends those of a key. */
  end(reason: ByeReason, keyId?: string): void {
    if (keyId === undefined) this.#isOver = true;
    for (const each of [...this.#open.keys()]) if (keyId === undefined || each.keyId === keyId) each.end(reason);
  }
}

const ownerOf = ({ address, keyId }: Connection): ConnectionOwner => ({ address, keyId });

/** @throws ApiError 503 or 429 */
function assertTaken(refusal: Refusal | null): void {
  if (refusal === null) return;
  if (refusal === 'crowded') throw tooManyRequests(RETRY_MS);
  const headers = { 'Retry-After': String(waitSecsCeil(RETRY_MS)) };
  throw unavailable(new Error('all connections of the streams are in use'), headers);
}

/**
 * Looks the keys of open connections up again every so often, all in one query, and ends the connections of those that
 * were revoked. While the database is unavailable, keys stay valid.
 *
 * @returns stops it
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
