import type { Context } from 'hono';
import type { BlockRef } from '../../chain/read-context.ts';
import { setBlockHeaders } from './block-headers.ts';
import { type ReadyBody, sendCached, sendReady } from './ready-body.ts';

/** A response 200 that may be sent again, to any client, while it is valid. */
export interface ReusableAnswer {
  readonly body: ReadyBody;
  /** The block that it was read at, if it reports one. */
  readonly block?: BlockRef;
  /** How many seconds caches may keep it. Absent: they must not. */
  readonly maxAgeSecs?: number;
  /** Whether the handler would send the same now. */
  readonly isValid: () => boolean;
  /** Notes that it was requested again. */
  readonly onRequest?: (byKey: boolean) => void;
}

declare module 'hono' {
  interface ContextVariableMap {
    /** What the handler sent, if it may be sent again. */
    reusable: ReusableAnswer;
  }
}

/** Sends a response, and keeps it for later requests of the same target. */
export function sendReusable(c: Context, answer: ReusableAnswer): Promise<Response> {
  const { body, block, maxAgeSecs } = answer;
  c.set('reusable', answer);
  if (block) setBlockHeaders(c, block);
  return maxAgeSecs === undefined ? sendReady(c, body) : sendCached(c, body, maxAgeSecs);
}
