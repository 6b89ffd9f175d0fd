import type { MiddlewareHandler } from 'hono';
import { compress } from 'hono/compress';

/** Shorter answers are sent as they are. */
export const COMPRESS_FROM_BYTES = 4 * 1024;

/** Compresses a long answer that is not compressed yet, for a client that takes it so. */
export const compressed: MiddlewareHandler = compress({ threshold: COMPRESS_FROM_BYTES });
