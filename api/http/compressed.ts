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
const AT_ONCE_CHARS = 64 * 1024;
const gzipped = promisify<string, typeof FAST, Buffer>(gzip);

/** A text compressed in one piece. */
export async function fastGzip(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(text.length <= AT_ONCE_CHARS ? gzipSync(text, FAST) : await gzipped(text, FAST));
}

/** A JSON text that is ready to be sent. */
export interface ReadyJson {
  readonly body: string;
  /** Length of the body. */
  readonly bytes: number;
  /** The body compressed. */
  zipped(): Promise<Uint8Array<ArrayBuffer>>;
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
  const isZipped = ready.bytes >= COMPRESS_FROM_BYTES && acceptsGzip(c);
  const body = isZipped ? await ready.zipped() : ready.body;
  return c.body(body, 200, {
    'Content-Type': 'application/json',
    // Told here so that an answer to HEAD, which has no body, tells it too.
    'Content-Length': String(isZipped ? body.length : ready.bytes),
    Vary: 'Accept-Encoding',
    ...(isZipped && { 'Content-Encoding': 'gzip' }),
    ...headers,
  });
}
