import { promisify } from 'node:util';
import { constants, gzip } from 'node:zlib';
import type { Context } from 'hono';
import { acceptsGzip } from './accepts-gzip.ts';

const compress = promisify(gzip);

/** A file as it is sent: compressed once, not at each request. */
export type ReadyFile = { readonly plain: Uint8Array<ArrayBuffer>; readonly zipped: Uint8Array<ArrayBuffer> };

export async function readyFile(content: Uint8Array): Promise<ReadyFile> {
  const zipped = await compress(content, { level: constants.Z_BEST_COMPRESSION });
  return { plain: new Uint8Array(content), zipped: new Uint8Array(zipped) };
}

/** @param headers of the file; those of its form are added */
export function sendFile(
  c: Context,
  { plain, zipped }: ReadyFile,
  headers: Readonly<Record<string, string>>,
): Response {
  const isZipped = acceptsGzip(c);
  return c.body(isZipped ? zipped : plain, 200, {
    ...headers,
    'X-Content-Type-Options': 'nosniff',
    Vary: 'Accept-Encoding',
    ...(isZipped && { 'Content-Encoding': 'gzip' }),
  });
}
