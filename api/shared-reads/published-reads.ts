import type { BlockRef } from '../../chain/chain-rpc.ts';
import { writeReads } from './messages.ts';

/** Most of what is published of a chain, in characters: what others do not find there they read themselves. */
const MAX_PUBLISHED = 32 * 1024 * 1024;

/**
 * What the leading process publishes of one chain: each value once, until it differs. A name that was not read at a block
 * is forgotten at the next one.
 */
export class PublishedReads {
  readonly token: string;
  readonly #maxLength: number;
  #seq = 0;
  #block: BlockRef | undefined;
  /** JSON by name: read at the block, or at the one before. */
  readonly #values = new Map<string, string>();
  #length = 0;
  readonly #read = new Set<string>();
  #isOver = false;
  /** Since the last message. */
  #news = { read: [] as string[], failed: [] as string[], values: [] as (readonly [string, string])[] };
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
  begin(block: BlockRef): void {
    if (block.hash === this.#block?.hash) return;
    this.#write();
    for (const name of [...this.#values.keys()].filter((each) => !this.#read.has(each))) this.#set(name, undefined);
    this.#read.clear();
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
      this.#news.failed.push(name);
      return;
    }
    if (!isKnown) this.#news.values.push([name, json]);
    this.#news.read.push(name);
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

  #write(): void {
    if (!this.#isDue || !this.#block) return;
    this.#seq += 1;
    const isWhole = this.#isWholeDue;
    const { values, ...news } = this.#news;
    const all = isWhole ? { read: [...this.#read], failed: [] } : news;
    const { token } = this;
    const head = { token, seq: this.#seq, block: this.#block, isWhole, isOver: this.#isOver, ...all };
    this.#messages.push(writeReads(head, isWhole ? [...this.#values] : values));
    this.#news = { read: [], failed: [], values: [] };
    this.#isDue = false;
    this.#isWholeDue = false;
  }
}
