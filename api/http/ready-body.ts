import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { Context, MiddlewareHandler } from 'hono';
import { compress } from 'hono/compress';

/** Shorter responses are sent as they are. */
export const COMPRESS_FROM_BYTES = 4 * 1024;

/** Compresses a long response that is not compressed yet, for a client that takes it so. */
export const compressed: MiddlewareHandler = compress({ threshold: COMPRESS_FROM_BYTES });

/** Fast rather than small, for what lives for seconds. */
const FAST = { level: constants.Z_BEST_SPEED };
/** Small rather than fast, for files. */
export const SMALL = { level: constants.Z_BEST_COMPRESSION };
const gzipped = promisify<string | Uint8Array, typeof FAST, Buffer<ArrayBuffer>>(gzip);

/** A body that is sent to however many clients: compressed and hashed once, when a client first needs it. */
export class ReadyBody {
  /** As it is sent uncompressed: of a text Node makes one write with the headers, of bytes two. */
  readonly content: string | Uint8Array<ArrayBuffer>;
  /** Bytes of it. */
  readonly length: number;
  readonly #compression: typeof FAST;
  #zipped: Promise<Buffer<ArrayBuffer>> | undefined;
  #tag: string | undefined;

  constructor(content: string | Uint8Array, compression = FAST) {
    this.content = typeof content === 'string' ? content : new Uint8Array(content);
    this.length = Buffer.byteLength(content);
    this.#compression = compression;
  }

  zipped(): Promise<Buffer<ArrayBuffer>> {
    this.#zipped ??= gzipped(this.content, this.#compression);
    return this.#zipped;
  }

  /** For `ETag`: weak, because it is the same for the compressed form. */
  get tag(): string {
    this.#tag ??= `W/"${createHash('sha1').update(this.content).digest('base64url')}"`;
    return this.#tag;
  }
}

/**
 * Whether a body is sent compressed: it is long, and the client names gzip, or any encoding, without refusing it by `q=0`.
 *
 * @param accepted `Accept-Encoding`
 */
export const isSentZipped = ({ length }: ReadyBody, accepted = ''): boolean =>
  length >= COMPRESS_FROM_BYTES && /(\bgzip\b|\*)(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(accepted);

/** Headers of a body that is sent in one piece. */
export const bodyHeaders = (length: number, isZipped: boolean) => ({
  'Content-Type': 'application/json',
  // Set here so that a response to HEAD, which has no body, has it too.
  'Content-Length': String(length),
  ...VARY,
  ...(isZipped && { 'Content-Encoding': 'gzip' }),
});

/** The one header of its body that 304 repeats. */
export const VARY = { Vary: 'Accept-Encoding' } as const;

/** Headers of a body that caches may keep. */
export const cacheHeaders = ({ tag }: ReadyBody, maxAgeSecs: number) => ({
  ETag: tag,
  'Cache-Control': `public, max-age=${maxAgeSecs}`,
});

/** @param had `If-None-Match` of a client that has the body, in any form */
export const isKnown = ({ tag }: ReadyBody, had: string | undefined): boolean =>
  had === '*' || (had?.match(/"[^"]*"/g)?.some((each) => tag === `W/${each}`) ?? false);

/**
 * Sends a body in one piece, compressed if it is long and the client takes it so: a stream of parts would take turns with
 * the requests of others.
 *
 * @param headers further ones, and another `Content-Type` than that of JSON
 */
export async function sendReady(
  c: Context,
  ready: ReadyBody,
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
