import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import type { Context, MiddlewareHandler } from 'hono';
import { compress } from 'hono/compress';
import { acceptsGzip } from './accepts-gzip.ts';

/** Shorter answers are sent as they are. */
export const COMPRESS_FROM_BYTES = 4 * 1024;

/** Compresses a long answer that is not compressed yet, for a client that takes it so. */
export const compressed: MiddlewareHandler = compress({ threshold: COMPRESS_FROM_BYTES });

/** Fast rather than small: what we send lives for seconds. */
export const FAST = { level: 1 };
/** Up to here it takes under a millisecond, and on a busy machine the way to another thread and back takes several. */
const AT_ONCE_BYTES = 64 * 1024;
const gzipped = promisify<Uint8Array, typeof FAST, Buffer>(gzip);

/** Compressed in one piece. */
async function fastGzip(body: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(body.length <= AT_ONCE_BYTES ? gzipSync(body, FAST) : await gzipped(body, FAST));
}

const encoder = new TextEncoder();

/** A JSON text that is ready to be sent, to however many clients. */
export class ReadyJson {
  readonly body: Uint8Array<ArrayBuffer>;
  #zipped: Promise<Uint8Array<ArrayBuffer>> | undefined;

  constructor(text: string) {
    this.body = encoder.encode(text);
  }

  /** The body compressed, at the first call. */
  zipped(): Promise<Uint8Array<ArrayBuffer>> {
    this.#zipped ??= fastGzip(this.body);
    return this.#zipped;
  }
}

/**
 * Sends it in one piece, compressed where it is long and the client takes it so: a stream of parts takes turns between
 * others' requests.
 */
export async function sendJson(
  c: Context,
  ready: ReadyJson,
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const isZipped = ready.body.length >= COMPRESS_FROM_BYTES && acceptsGzip(c);
  const body = isZipped ? await ready.zipped() : ready.body;
  return c.body(body, 200, {
    'Content-Type': 'application/json',
    // Told here so that an answer to HEAD, which has no body, tells it too.
    'Content-Length': String(body.length),
    Vary: 'Accept-Encoding',
    ...(isZipped && { 'Content-Encoding': 'gzip' }),
    ...headers,
  });
}
