import { promisify } from 'node:util';
import { gzip, gzipSync } from 'node:zlib';
import type { MiddlewareHandler } from 'hono';
import { compress } from 'hono/compress';

/** Shorter answers are sent as they are. */
export const COMPRESS_FROM_BYTES = 4 * 1024;

/** Compresses a long answer that is not compressed yet, for a client that takes it so. */
export const compressed: MiddlewareHandler = compress({ threshold: COMPRESS_FROM_BYTES });

/** Fast rather than small: what we send lives for seconds. */
const FAST = { level: 1 };
/** Up to here it takes under a millisecond, and on a busy machine the way to another thread and back takes several. */
const AT_ONCE_CHARS = 64 * 1024;
const gzipped = promisify<string, typeof FAST, Buffer>(gzip);

/** A text compressed in one piece. */
export async function fastGzip(text: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(text.length <= AT_ONCE_CHARS ? gzipSync(text, FAST) : await gzipped(text, FAST));
}
