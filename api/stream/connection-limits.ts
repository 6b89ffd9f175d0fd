import type { StreamConfig } from '../../config/stream-schema.ts';
import { ApiError, tooManyRequests, waitSecsCeil } from '../errors.ts';

/** Who a connection counts for: its key, or without one its address. */
export type ConnectionOwner = { readonly keyId: string } | { readonly address: string };

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

interface Entry {
  readonly transport: Transport;
  owner: ConnectionOwner;
  readonly onRevoked: () => void;
}

/** When a refused client may try again; nothing tells when another's connection ends. */
const RETRY_MS = 10_000;

/** Counts the open streams of this process, SSE and WebSocket together, and refuses those beyond its bounds. */
export class ConnectionLimits {
  readonly #config: StreamConfig;
  readonly #open = new Set<Entry>();
  readonly #byOwner = new Map<string, number>();

  constructor(config: StreamConfig) {
    this.#config = config;
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
    return [...new Set([...this.#open].flatMap(({ owner }) => ('keyId' in owner ? owner.keyId : [])))];
  }

  /**
   * Takes a connection into the count, until it is freed.
   *
   * @param onRevoked called when its key is no longer valid
   * @throws ApiError 503 when the process is full, 429 when the owner has too many
   */
  open(owner: ConnectionOwner, onRevoked: () => void, transport: Transport = 'sse'): CountedConnection {
    if (this.#open.size >= this.#config.connections) throw full();
    this.#count(owner);
    const entry: Entry = { transport, owner, onRevoked };
    this.#open.add(entry);
    return {
      moveTo: (keyId) => {
        if (!this.#open.has(entry)) return;
        this.#count({ keyId });
        this.#uncount(entry.owner);
        entry.owner = { keyId };
      },
      free: () => {
        if (this.#open.delete(entry)) this.#uncount(entry.owner);
      },
    };
  }

  /** Tells every connection of a key that it is no longer valid. */
  revoke(keyId: string): void {
    for (const { owner, onRevoked } of [...this.#open]) {
      if ('keyId' in owner && owner.keyId === keyId) onRevoked();
    }
  }

  /** @throws ApiError 429 */
  #count(owner: ConnectionOwner): void {
    const { connectionsPerAddress, connectionsPerKey } = this.#config;
    const name = nameOf(owner);
    const count = this.#byOwner.get(name) ?? 0;
    if (count >= ('keyId' in owner ? connectionsPerKey : connectionsPerAddress)) throw tooManyRequests(RETRY_MS);
    this.#byOwner.set(name, count + 1);
  }

  #uncount(owner: ConnectionOwner): void {
    const name = nameOf(owner);
    const left = (this.#byOwner.get(name) ?? 0) - 1;
    if (left > 0) this.#byOwner.set(name, left);
    else this.#byOwner.delete(name);
  }
}

const nameOf = (owner: ConnectionOwner): string => ('keyId' in owner ? `key ${owner.keyId}` : `ip ${owner.address}`);

const full = (): ApiError =>
  new ApiError(
    503,
    { error: 'Service temporarily unavailable' },
    {
      cause: new Error('all connections of the streams are taken'),
      headers: { 'Retry-After': String(waitSecsCeil(RETRY_MS)) },
    },
  );
