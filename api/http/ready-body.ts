import { createHash } from 'node:crypto';
import { constants } from 'node:zlib';
import type { Context, MiddlewareHandler } from 'hono';
import { compress } from 'hono/compress';
import { deflatePart, type GzipPart, gzipMember, storedPart } from './gzip-parts.ts';

/** Shorter responses are sent as they are. */
export const COMPRESS_FROM_BYTES = 4 * 1024;

/** Compresses a long response that is not compressed yet, if the client accepts that. */
export const compressed: MiddlewareHandler = compress({ threshold: COMPRESS_FROM_BYTES });

/** Fast rather than small, for bodies that live for seconds. */
const FAST = constants.Z_BEST_SPEED;
/** Small rather than fast, for files. */
export const SMALL = constants.Z_BEST_COMPRESSION;

/** A body that is sent in one piece. */
export interface WholeBody {
  /** The uncompressed body. Node sends a text in one write with the headers, but bytes in a second write. */
  readonly content: string | Uint8Array<ArrayBuffer>;
  /** Number of uncompressed bytes. */
  readonly length: number;
  /** The body as gzip. */
  zipped(): Promise<Buffer<ArrayBuffer>>;
}

/** A body for any number of clients. It is compressed and hashed once, when a client first needs that. */
export class ReadyBody implements WholeBody {
  readonly content: string | Uint8Array<ArrayBuffer>;
  readonly length: number;
  readonly #level: number;
  #bytes: Uint8Array<ArrayBuffer> | undefined;
  #part: Promise<GzipPart> | undefined;
  #zipped: Promise<Buffer<ArrayBuffer>> | undefined;
  #tag: string | undefined;

  constructor(content: string | Uint8Array, level: number = FAST) {
    this.content = typeof content === 'string' ? content : new Uint8Array(content);
    this.length = Buffer.byteLength(content);
    this.#level = level;
  }

  /** The uncompressed bytes, to be joined with others. Encodes a text once. */
  get bytes(): Uint8Array<ArrayBuffer> {
    this.#bytes ??= typeof this.content === 'string' ? Buffer.from(this.content) : this.content;
    return this.#bytes;
  }

  /** The compressed bytes, to be joined with others. */
  part(): Promise<GzipPart> {
    this.#part ??= deflatePart(this.content, this.#level);
    return this.#part;
  }

  zipped(): Promise<Buffer<ArrayBuffer>> {
    this.#zipped ??= this.part().then((part) => gzipMember([part]));
    return this.#zipped;
  }

  /** The `ETag`. It is weak, because the compressed form has the same. */
  get tag(): string {
    this.#tag ??= `W/"${createHash('sha1').update(this.content).digest('base64url')}"`;
    return this.#tag;
  }
}

/** Texts shorter than this are not worth a compression of their own. */
const STORE_BELOW_BYTES = 1024;

/** A body of texts and ready bodies. Uses the compressed form of long ready bodies again. */
export class JoinedBody implements WholeBody {
  readonly #parts: readonly (string | ReadyBody)[];
  readonly length: number;

  constructor(parts: readonly (string | ReadyBody)[]) {
    this.#parts = parts;
    const lengthOf = (part: string | ReadyBody) => (typeof part === 'string' ? Buffer.byteLength(part) : part.length);
    this.length = parts.reduce((sum, part) => sum + lengthOf(part), 0);
  }

  /** The parts, joined when needed. Joins bytes, because to join and encode texts takes ten times as long. */
  get content(): Uint8Array<ArrayBuffer> {
    return Buffer.concat(this.#parts.map(bytesOf));
  }

  async zipped(): Promise<Buffer<ArrayBuffer>> {
    const parts: (GzipPart | Promise<GzipPart>)[] = [];
    let short: Uint8Array[] = [];
    const endShort = () => {
      const bytes = Buffer.concat(short);
      if (bytes.length > 0) parts.push(bytes.length < STORE_BELOW_BYTES ? storedPart(bytes) : deflatePart(bytes, FAST));
      short = [];
    };
    for (const part of this.#parts) {
      if (typeof part === 'string' || part.length < COMPRESS_FROM_BYTES) {
        short.push(bytesOf(part));
        continue;
      }
      endShort();
      parts.push(part.part());
    }
    endShort();
    return gzipMember(await Promise.all(parts));
  }
}

const bytesOf = (part: string | ReadyBody) => (typeof part === 'string' ? Buffer.from(part) : part.bytes);

/** What `Accept-Encoding` says of gzip, and of codings that it does not name. */
const GZIP_ENTRY = /(?:^|,)\s*gzip\s*(;[^,]*)?(?:,|$)/i;
const OTHER_ENTRY = /(?:^|,)\s*\*\s*(;[^,]*)?(?:,|$)/;
const IS_REJECTED = /;\s*q=0(\.0*)?\s*$/i;

/**
 * Whether a body is sent compressed: it is long, and the client accepts gzip by name,
 * or by `*` without naming it. `q=0` rejects a coding.
 *
 * @param accepted `Accept-Encoding`
 */
export function isSentZipped({ length }: WholeBody, accepted = ''): boolean {
  if (length < COMPRESS_FROM_BYTES) return false;
  const entry = GZIP_ENTRY.exec(accepted) ?? OTHER_ENTRY.exec(accepted);
  return entry !== null && !IS_REJECTED.test(entry[1] ?? '');
}

/** Headers of a body that is sent in one piece. */
export const bodyHeaders = (length: number, isZipped: boolean) => ({
  'Content-Type': 'application/json',
  // Set here so that a response to HEAD, which has no body, has it too.
  'Content-Length': String(length),
  ...VARY,
  ...(isZipped && { 'Content-Encoding': 'gzip' }),
});

/** The one header of a body that its 304 repeats. */
export const VARY = { Vary: 'Accept-Encoding' } as const;

/** Headers of a body that caches may keep. */
export const cacheHeaders = ({ tag }: ReadyBody, maxAgeSecs: number) => ({
  ETag: tag,
  'Cache-Control': `public, max-age=${maxAgeSecs}`,
});

/** Whether a client has the body already, in any form. @param had the request's `If-None-Match` */
export const isKnown = ({ tag }: ReadyBody, had: string | undefined): boolean =>
  had === '*' || (had?.match(/"[^"]*"/g)?.some((each) => tag === `W/${each}`) ?? false);

/**
 * Sends a body in one piece, compressed if it is long and the client accepts that. In one piece, because other requests
 * would run between the parts of a stream.
 *
 * @param headers further headers, and the `Content-Type` unless it is JSON
 */
export async function sendReady(
  c: Context,
  ready: WholeBody,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const isZipped = isSentZipped(ready, c.req.header('Accept-Encoding'));
  const content = isZipped ? await ready.zipped() : ready.content;
  return c.body(content, 200, { ...bodyHeaders(isZipped ? content.length : ready.length, isZipped), ...headers });
}

/** Sends a body that caches may keep, or 304 to a client that has it. */
export async function sendCached(c: Context, ready: ReadyBody, maxAgeSecs: number): Promise<Response> {
  const headers = cacheHeaders(ready, maxAgeSecs);
  const isRepeated = isKnown(ready, c.req.header('If-None-Match'));
  return isRepeated ? c.body(null, 304, { ...headers, ...VARY }) : sendReady(c, ready, headers);
}
