import { LRUCache } from 'lru-cache';
import type { RpcEndpoint } from '../../chain/rpc-endpoint.ts';

/** Logs that a node gave of a block. */
export interface PlacedLogs {
  readonly node: RpcEndpoint;
  readonly blockHash: string;
  readonly blockNumber: string;
  readonly logs: number;
}

type Block = { readonly hash?: unknown; readonly number?: unknown } | null;

/** More blocks than Ponder reads between logs and their blocks; and than it reads logs of by hash at a time. */
const MAX_PLACED = 10_000;
const MAX_BLOCKS = 1_000;

/**
 * Where nodes said that logs are, and where blocks are. Logs of a range may lie in it at a wrong place, which only
 * their blocks show. Ponder reads these afterwards, and before it reads logs by hash, as a rule.
 */
export class LogPlaces {
  /** Of each number, what was noted last and before it. */
  readonly #placed = new LRUCache<number, readonly PlacedLogs[]>({ max: MAX_PLACED });
  readonly #numbers = new LRUCache<string, string>({ max: MAX_BLOCKS });

  /** Number of a block that was read. */
  numberOf(blockHash: string): string | undefined {
    return this.#numbers.get(blockHash);
  }

  /** Takes note of the logs of an answer. Without a parser, as all logs of the index come through here. */
  noteLogs(node: RpcEndpoint, logs: unknown): void {
    if (!Array.isArray(logs)) return;
    let last: { node: RpcEndpoint; blockHash: string; blockNumber: string; logs: number } | undefined;
    for (const { blockHash, blockNumber } of logs as readonly Pick<PlacedLogs, 'blockHash' | 'blockNumber'>[]) {
      if (last?.blockHash === blockHash && last.blockNumber === blockNumber) last.logs += 1;
      else {
        last = { node, blockHash, blockNumber, logs: 1 };
        const [before] = this.#placed.get(Number(blockNumber)) ?? [];
        this.#placed.set(Number(blockNumber), before ? [last, before] : [last]);
      }
    }
  }

  /** Takes note of a block. @returns logs that were given at its number, of another block */
  noteBlock(block: unknown): PlacedLogs | undefined {
    const { hash, number } = (block as Block) ?? {};
    if (typeof hash !== 'string' || typeof number !== 'string') return undefined;
    this.#numbers.set(hash, number);
    const other = this.#placed.get(Number(number))?.find(({ blockHash }) => blockHash !== hash);
    // A node that moves logs moves many: one block is enough to look at.
    if (other) this.#placed.clear();
    else this.#placed.delete(Number(number));
    return other;
  }
}
