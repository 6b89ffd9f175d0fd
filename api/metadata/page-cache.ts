import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { fastGzip, type ReadyJson } from '../http/compressed.ts';

/** Memory for pages that were asked for: those of a default request take some 100 kB. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A page as it is sent, made once however many clients ask for it. */
export class RenderedPage implements ReadyJson {
  /** State of the listing that the page was read from. */
  readonly version: string;
  readonly body: string;
  /** Length of the body. */
  readonly bytes: number;
  /** Hash of the body, without quotes. */
  readonly tag: string;
  #zipped: Promise<Uint8Array<ArrayBuffer>> | undefined;

  constructor(version: string, body: string) {
    this.version = version;
    this.body = body;
    this.bytes = Buffer.byteLength(body);
    this.tag = createHash('sha1').update(body).digest('base64url');
  }

  /** The body compressed, at the first call. */
  zipped(): Promise<Uint8Array<ArrayBuffer>> {
    this.#zipped ??= fastGzip(this.body);
    return this.#zipped;
  }
}

/** Pages by what was asked for; the least recently asked for go first when memory is full. */
export type PageCache = LRUCache<string, RenderedPage>;

export function createPageCache(maxBytes = MAX_BYTES): PageCache {
  // Twice the body is more than body and compressed form take together, unless the body is all but empty.
  return new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ bytes }, key) => 2 * bytes + key.length + 1_000 });
}
