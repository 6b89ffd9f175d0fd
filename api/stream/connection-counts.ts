import type { StreamConfig } from '../../config/stream-schema.ts';

/** Who a connection counts for: its key, or its address without one. */
export interface ConnectionOwner {
  readonly address: string;
  readonly keyId: string | null;
}

/** Why a connection is refused: all are in use, or its owner has too many. */
export type Refusal = 'full' | 'crowded';

/** Counts connections of all processes that share the bounds; `id` is the caller's own. */
export interface ConnectionBook {
  take(id: number, owner: ConnectionOwner): Promise<Refusal | null>;
  /** Counts a connection for another owner, unless it is refused or was released. */
  move(id: number, owner: ConnectionOwner): Promise<Refusal | null>;
  /** Once however often it is called. */
  release(id: number): void;
}

/** Connections per Trading API key; further ones get 429. */
const MAX_PER_KEY = 200;

const nameOf = ({ keyId, address }: ConnectionOwner): string =>
  keyId === null ? `address ${address}` : `key ${keyId}`;

/** The open connections of one or more processes, by owner. */
export class ConnectionCounts {
  readonly #bounds: Pick<StreamConfig, 'connections' | 'connectionsPerAddress'>;
  readonly #owners = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  constructor(bounds: Pick<StreamConfig, 'connections' | 'connectionsPerAddress'>) {
    this.#bounds = bounds;
  }

  /** The book of one process, whose connections no other names. */
  bookOf(process: number): ConnectionBook {
    const key = (id: number) => `${process}:${id}`;
    return {
      take: async (id, owner) => this.#take(key(id), owner),
      move: async (id, owner) => this.#move(key(id), owner),
      release: (id) => this.#release(key(id)),
    };
  }

  /** Releases all connections of a process that ended. */
  end(process: number): void {
    for (const key of [...this.#owners.keys()]) if (key.startsWith(`${process}:`)) this.#release(key);
  }

  #take(key: string, owner: ConnectionOwner): Refusal | null {
    if (this.#owners.size >= this.#bounds.connections) return 'full';
    if (!this.#hasRoom(owner)) return 'crowded';
    this.#count(key, nameOf(owner));
    return null;
  }

  #move(key: string, owner: ConnectionOwner): Refusal | null {
    if (!this.#hasRoom(owner)) return 'crowded';
    if (this.#release(key)) this.#count(key, nameOf(owner));
    return null;
  }

  #hasRoom(owner: ConnectionOwner): boolean {
    const most = owner.keyId === null ? this.#bounds.connectionsPerAddress : MAX_PER_KEY;
    return (this.#counts.get(nameOf(owner)) ?? 0) < most;
  }

  #count(key: string, owner: string): void {
    this.#owners.set(key, owner);
    this.#counts.set(owner, (this.#counts.get(owner) ?? 0) + 1);
  }

  #release(key: string): boolean {
    const owner = this.#owners.get(key);
    if (owner === undefined) return false;
    this.#owners.delete(key);
    const left = (this.#counts.get(owner) ?? 0) - 1;
    if (left > 0) this.#counts.set(owner, left);
    else this.#counts.delete(owner);
    return true;
  }
}
