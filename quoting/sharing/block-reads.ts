import { hash as digestOf } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { stateOf } from '../../chain/pending-state.ts';
import type { BlockHeader } from '../../chain/read-context.ts';
import { growingTo } from '../../runtime/growing-cache.ts';
import { type ReadsMessage, writeReads } from './messages.ts';

/** Most characters of a message: Redis terminates slow readers at 32 MB. Other processes read the rest themselves. */
const MAX_MESSAGE = 16 * 1024 * 1024;
/** How many values are remembered: two for each requested pool. */
const MAX_VALUES = 20_000;
/** For how many blocks it is remembered what was read. */
const MAX_BLOCKS = 4;

/** A value of a pool, named by its content, at any block. */
interface Value {
  readonly digest: string;
  readonly read: () => unknown;
}

/** What is known of one block. */
interface BlockRead {
  readonly values: Map<string, Value>;
  readonly failed: Set<string>;
  isOver: boolean;
}

/** What this process has yet to publish of a block: JSON by name, null where the chain was not read. */
interface Unsent {
  readonly block: BlockHeader;
  readonly read: Map<string, string | null>;
  isOver: boolean;
}

/** What is known of a name at a block: its value, that it will not come (`absent`), or nothing yet. */
export type Found = { readonly value: unknown } | 'absent' | 'unknown';

/**
 * Reads of one chain by block: those of this process, to be published, and those that other processes published.
 *
 * 1. A value belongs to the state of a block, at which it never changes: messages may come late, twice or in any order.
 * 2. A value that was sent before is sent as its digest. A process that got the content at any block has the value.
 * 3. A process that does not have the content reads it from the chain. It never asks other processes for it.
 */
export class BlockReads {
  readonly #maxMessage: number;
  /** The last value of each name that was sent or came. */
  readonly #last = new LRUCache<string, Value>(growingTo(MAX_VALUES));
  /** The last value of each name that this process read for itself. It replaces none that others name by its digest. */
  readonly #own = new LRUCache<string, Value>(growingTo(MAX_VALUES));
  readonly #blocks = new LRUCache<string, BlockRead>({ max: MAX_BLOCKS });
  readonly #unsent = new Map<string, Unsent>();

  constructor(maxMessage = MAX_MESSAGE) {
    this.#maxMessage = maxMessage;
  }

  find(name: string, state: string): Found {
    const block = this.#blocks.get(state);
    const value = block?.values.get(name);
    if (value) return { value: value.read() };
    return block && (block.failed.has(name) || block.isOver) ? 'absent' : 'unknown';
  }

  /** Notes what this process read at a block, to be published. @param json null when the chain was not read */
  add(block: BlockHeader, name: string, json: string | null): void {
    this.#unsentOf(block).read.set(name, json);
  }

  /** Notes that this process reads nothing more at a block. */
  end(block: BlockHeader): void {
    this.#unsentOf(block).isOver = true;
  }

  /** Notes what this process read for itself. If it is the same later, it is sent as its digest. */
  remember(name: string, json: string): void {
    this.#own.set(name, toValue(json));
  }

  /** Makes this process send every value whole again, since another process may have missed messages. */
  forget(): void {
    this.#last.clear();
    this.#own.clear();
  }

  /** Whether anything is known of a block from other processes. */
  has(state: string): boolean {
    return this.#blocks.has(state);
  }

  /** Writes a message for each block with what was noted since the last ones. */
  drain(): string[] {
    const unsent = [...this.#unsent.values()];
    this.#unsent.clear();
    return unsent.map((each) => this.#write(each));
  }

  #write({ block, read, isOver }: Unsent): string {
    const values: [name: string, digest: string, json: string][] = [];
    const [same, failed]: [[string, string][], string[]] = [[], []];
    let length = 0;
    for (const [name, json] of read) {
      if (json === null || length + json.length > this.#maxMessage) {
        failed.push(name);
        continue;
      }
      const value = toValue(json);
      const { digest } = value;
      if (this.#known(name, digest)) {
        same.push([name, digest]);
        continue;
      }
      length += json.length;
      values.push([name, digest, json]);
      this.#last.set(name, value);
    }
    return writeReads({ block, same, failed, isOver }, values);
  }

  /** Takes what another process published. */
  take({ state, values, same, failed, isOver }: ReadsMessage): void {
    const block = this.#blockOf(state);
    for (const [name, digest, json] of values) {
      const value = { digest, read: () => json };
      this.#last.set(name, value);
      block.values.set(name, value);
    }
    for (const [name, digest] of same) {
      const value = this.#known(name, digest);
      if (value) block.values.set(name, value);
      else block.failed.add(name);
    }
    for (const name of failed) block.failed.add(name);
    block.isOver ||= isOver;
  }

  /** Notes that nothing more comes of a block. */
  close(state: string): void {
    this.#blockOf(state).isOver = true;
  }

  /** A value that was sent before, which is kept as sent; undefined where it was not. */
  #known(name: string, digest: string): Value | undefined {
    const value = [this.#last, this.#own].map((values) => values.get(name)).find((each) => each?.digest === digest);
    if (value) this.#last.set(name, value);
    return value;
  }

  #blockOf(state: string): BlockRead {
    const block = this.#blocks.get(state) ?? { values: new Map(), failed: new Set(), isOver: false };
    this.#blocks.set(state, block);
    return block;
  }

  #unsentOf(block: BlockHeader): Unsent {
    const unsent = this.#unsent.get(stateOf(block)) ?? { block, read: new Map(), isOver: false };
    this.#unsent.set(stateOf(block), unsent);
    return unsent;
  }
}

const toValue = (json: string): Value => ({
  digest: digestOf('sha256', json, 'base64url').slice(0, 16),
  read: () => JSON.parse(json),
});
