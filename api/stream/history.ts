import type { Address } from 'viem';
import type { BlockRef } from '../../chain/chain-rpc.ts';
import type { RemovalReason } from './types.ts';

/** What a stream told beside quotes. */
interface Entry {
  readonly seq: number;
  readonly block: BlockRef;
  /** Counts the blocks of the stream. */
  readonly ordinal: number;
  readonly reorgFrom: bigint | null;
  readonly removed: ReadonlyMap<Address, RemovalReason>;
}

/** What a client missed that got everything up to some message; which quotes changed is on the board. */
export interface Missed {
  readonly seq: number;
  /** Of the last message that it got. */
  readonly blockNumber: bigint;
  readonly reorgFrom: bigint | null;
  readonly removed: ReadonlyMap<Address, RemovalReason>;
}

const NOTHING: ReadonlyMap<Address, RemovalReason> = new Map();

/** The last blocks of a stream. */
export class History {
  readonly #blocks: number;
  #entries: Entry[] = [];

  /** @param blocks how many are kept */
  constructor(blocks: number) {
    this.#blocks = blocks;
  }

  add(seq: number, block: BlockRef, reorgFrom: bigint | null, removed = NOTHING): void {
    const last = this.#entries.at(-1);
    const ordinal = (last?.ordinal ?? 0) + (last?.block.hash === block.hash ? 0 : 1);
    this.#entries.push({ seq, block, ordinal, reorgFrom, removed });
    const begin = this.#entries.findIndex((entry) => entry.ordinal > ordinal - this.#blocks);
    if (begin > 0) this.#entries.splice(0, begin);
  }

  /** @returns null when it is not remembered */
  since(seq: number): Missed | null {
    const index = this.#entries.findIndex((entry) => entry.seq === seq);
    const last = this.#entries[index];
    if (!last) return null;
    const missed = this.#entries.slice(index + 1);
    const [reorgFrom = null] = missed.flatMap((entry) => entry.reorgFrom ?? []).sort((a, b) => (a < b ? -1 : 1));
    return {
      seq,
      blockNumber: last.block.number,
      reorgFrom,
      removed: new Map(missed.flatMap(({ removed }) => [...removed])),
    };
  }
}
