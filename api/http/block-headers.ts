import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';
import type { BlockRef } from '../../chain/read-context.ts';

export const BLOCK_HEADERS = ['X-Block-Number', 'X-Block-Hash', 'X-Block-Age-Ms', 'X-Quote-Basis'] as const;
/** Only on quotes in the block that is being built. */
export const TARGET_BLOCK_HEADER = 'X-Target-Block';

/** The older of two blocks of a chain; of the same block, the one with a block being built on it. */
export function olderBlock(one: BlockRef, other: BlockRef): BlockRef {
  if (one.number !== other.number) return other.number < one.number ? other : one;
  return one.pending ? one : other;
}

/**
 * Reports the block that a response was read at, and its age: our clock less the block's time, but at least 0. The
 * block's time has whole seconds and may be ahead of our clock.
 */
export function setBlockHeaders(c: Context, block: BlockRef): void {
  for (const [name, value] of Object.entries(blockHeaders(block))) setEarly(c, name, value);
}

/** The headers of {@link setBlockHeaders}. */
export const blockHeaders = ({ number, hash, timestamp, pending }: BlockRef): Readonly<Record<string, string>> => ({
  'X-Block-Number': String(number),
  'X-Block-Hash': hash,
  'X-Block-Age-Ms': String(Math.max(0, Date.now() - Number(timestamp) * 1_000)),
  'X-Quote-Basis': pending ? 'live' : 'committed',
  ...(pending && { [TARGET_BLOCK_HEADER]: String(pending.blockNumber) }),
});

/**
 * Sets a header of the response before the framework has one. The header goes straight to the socket's response, if
 * any: a header that the framework has to keep takes the response off its fast path.
 */
export function setEarly(c: Context, name: string, value: string): void {
  const { outgoing } = (c.env ?? {}) as Partial<HttpBindings>;
  if (outgoing) outgoing.setHeader(name, value);
  else c.header(name, value);
}
