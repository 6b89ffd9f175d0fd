import type { StreamConfig } from '../../config/stream-schema.ts';
import { type ApiError, tooManyRequests, unavailable, waitSecsCeil } from '../errors.ts';

/** Who a connection counts for: its key, or without one its address. */
export interface ConnectionOwner {
  readonly keyId?: string;
  readonly address?: string;
}

/** An open connection in the count. */
export interface CountedConnection {
  /**
   * Counts it for a key from now on.
   *
   * @throws ApiError 429; it counts as before then
   */
  moveTo(keyId: string): void;
  /** Takes it out of the count. Further calls do nothing: a connection may end in several ways at once. */
  free(): void;
}

export type Transport = 'sse' | 'websocket';

/** Connections per Trading API key; further ones get 429. */
const MAX_PER_KEY = 200;

/** When a refused client may try again; when another's connection ends is not known. */
const RETRY_MS = 10_000;

/** Settings, and the bound of connections per key where it is not the usual one, as in tests. */
export type ConnectionBounds = StreamConfig & { readonly connectionsPerKey?: number };

/** Counts the open streams of this process, SSE and WebSocket together, and refuses those beyond its bounds. */
export class ConnectionLimits {
  readonly #config: Required<ConnectionBounds>;
  readonly #open = new Set<{ readonly transport: Transport; owner: ConnectionOwner; readonly onRevoked: () => void }>();

  constructor(bounds: ConnectionBounds) {
    this.#config = { connectionsPerKey: MAX_PER_KEY, ...bounds };
  }

  /** Connections that are open. */
  get size(): number {
    return this.#open.size;
  }

  /** The same, by transport. */
  get byTransport(): Readonly<Record<Transport, number>> {
    const counts = { sse: 0, websocket: 0 };
    for (const { transport } of this.#open) counts[transport] += 1;
    return counts;
  }

  /** Keys that have connections. */
  get keyIds(): string[] {
    return [...new Set([...this.#open].flatMap(({ owner }) => owner.keyId ?? []))];
  }

  /**
   * Takes a connection into the count, until it is freed.
   *
   * @param onRevoked called when its key is no longer valid
   * @throws ApiError 503 when the process is full, 429 when the owner has too many
   */
  open(owner: ConnectionOwner, transport: Transport, onRevoked: () => void): CountedConnection {
    if (this.#open.size >= this.#config.connections) throw full();
    this.#checkOwner(owner);
    const connection = { transport, owner, onRevoked };
    this.#open.add(connection);
    return {
      moveTo: (keyId) => {
        this.#checkOwner({ keyId });
        connection.owner = { keyId };
      },
      free: () => {
        this.#open.delete(connection);
      },
    };
  }

  /** Calls `onRevoked` of every connection of a key. */
  revoke(keyId: string): void {
    for (const { owner, onRevoked } of [...this.#open]) if (owner.keyId === keyId) onRevoked();
  }

  /** @throws ApiError 429 */
  #checkOwner({ keyId, address }: ConnectionOwner): void {
    const { connectionsPerAddress, connectionsPerKey } = this.#config;
    let count = 0;
    for (const { owner } of this.#open) if (owner.keyId === keyId && owner.address === address) count += 1;
    if (count >= (keyId === undefined ? connectionsPerAddress : connectionsPerKey)) throw tooManyRequests(RETRY_MS);
  }
}

const full = (): ApiError =>
  unavailable(new Error('all connections of the streams are in use'), {
    'Retry-After': String(waitSecsCeil(RETRY_MS)),
  });
