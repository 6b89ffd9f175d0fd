import type { BlockHeader, BlockRef } from '../../chain/chain-rpc.ts';
import { writeReads } from './messages.ts';

/**
 * Most of what is published of a chain, in characters: what others do not find there they read themselves. Redis cuts off
 * who is owed more than 32 MB.
 */
const MAX_PUBLISHED = 16 * 1024 * 1024;

/**
 * What the leading process publishes of one chain: each value once, until it differs. A name that was not read at a block
 * is forgotten at the next one.
 */
export class PublishedReads {
  readonly token: string;
  readonly #maxLength: number;
  #seq = 0;
  #block: BlockHeader | undefined;
  /** JSON by name: read at the block, or at the one before. */
  readonly #values = new Map<string, string>();
  #length = 0;
  readonly #read = new Set<string>();
  readonly #failed = new Set<string>();
  #isOver = false;
  /** Since the last message. */
  readonly #changed = new Set<string>();
  #isDue = false;
  #isWholeDue = true;
  readonly #messages: string[] = [];

  constructor(token: string, maxLength = MAX_PUBLISHED) {
    this.token = token;
    this.#maxLength = maxLength;
  }

  /** Messages so far. */
  get seq(): number {
    return this.#seq;
  }

  /** Reads begin at a block. */
  begin(block: BlockHeader): void {
    if (block.hash === this.#block?.hash) return;
    this.#write();
    for (const name of this.#unread()) this.#set(name, undefined);
    this.#read.clear();
    this.#failed.clear();
    this.#isOver = false;
    this.#block = block;
    this.#isDue = true;
  }

  /** A read at a block is done. @param json null when the chain was not read */
  settle({ hash }: BlockRef, name: string, json: string | null): void {
    if (hash !== this.#block?.hash) return;
    this.#isDue = true;
    const isKnown = json !== null && this.#values.get(name) === json;
    if (!isKnown && (json === null || !this.#set(name, json))) {
      this.#failed.add(name);
      return;
    }
    if (!isKnown) this.#changed.add(name);
    this.#read.add(name);
  }

  /** All that was to be read at a block is. */
  end({ hash }: BlockRef): void {
    if (hash !== this.#block?.hash || this.#isOver) return;
    this.#isOver = true;
    this.#isDue = true;
  }

  /** Has the next message hold all that is known. */
  demandWhole(): void {
    this.#isWholeDue = true;
    this.#isDue = this.#block !== undefined;
  }

  /** The messages that are to be sent now, in order. */
  drain(): readonly string[] {
    this.#write();
    return this.#messages.splice(0);
  }

  /** @returns whether there is room for it */
  #set(name: string, json: string | undefined): boolean {
    const length = this.#length - (this.#values.get(name)?.length ?? 0) + (json?.length ?? 0);
    if (json !== undefined && length > this.#maxLength) return false;
    if (json === undefined) this.#values.delete(name);
    else this.#values.set(name, json);
    this.#length = length;
    return true;
  }

  #unread(): string[] {
    return [...this.#values.keys()].filter((name) => !this.#read.has(name));
  }

  #write(): void {
    if (!this.#isDue || !this.#block) return;
    this.#seq += 1;
    const isRead = 2 * this.#read.size > this.#values.size;
    const head = {
      token: this.token,
      seq: this.#seq,
      block: this.#block,
      isWhole: this.#isWholeDue,
      isOver: this.#isOver,
      isRead,
      except: isRead ? this.#unread() : [...this.#read],
      failed: [...this.#failed],
    };
    const names = this.#isWholeDue ? this.#values.keys() : this.#changed;
    this.#messages.push(
      writeReads(
        head,
        [...names].map((name) => [name, this.#values.get(name) ?? 'null']),
      ),
    );
    this.#changed.clear();
    this.#isDue = false;
    this.#isWholeDue = false;
  }
}
