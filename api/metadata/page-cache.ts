import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { TaggedJson } from '../http/cached.ts';
import { ReadyJson } from '../http/compressed.ts';

/** Memory for pages that were asked for: those of a default request take some 100 kB. */
const MAX_BYTES = 64 * 1024 * 1024;

/** A page as it is sent, made once however many clients ask for it. */
export class RenderedPage extends ReadyJson implements TaggedJson {
  /** State of the listing that the page was read from. */
  readonly version: string;
  readonly hash: string;

  constructor(version: string, text: string) {
    super(text);
    this.version = version;
    this.hash = createHash('sha1').update(this.body).digest('base64url');
  }
}

/** Pages by what was asked for; the least recently asked for go first when memory is full. */
export type PageCache = LRUCache<string, RenderedPage>;

export function createPageCache(maxBytes = MAX_BYTES): PageCache {
  // Twice the body is more than body and compressed form take together, unless the body is all but empty.
  return new LRUCache({ maxSize: maxBytes, sizeCalculation: ({ body }, key) => 2 * body.length + key.length + 1_000 });
}
