import type { Context } from 'hono';
import type { BlockRef } from '../../chain/chain-rpc.ts';
import { setBlockHeaders } from './block-headers.ts';
import { type ReadyBody, sendCached, sendReady } from './ready-body.ts';

/** A 200 that any client may get again, until it is no longer valid. */
export interface ReusableAnswer {
  readonly body: ReadyBody;
  /** The block that it was read at, where it names one. */
  readonly block?: BlockRef;
  /** Seconds that caches may keep it. Without them they must not. */
  readonly maxAgeSecs?: number;
  /** Whether the handler would answer the same now. */
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

/** Sends an answer, and offers it to those who ask for the same. */
export function sendReusable(c: Context, answer: ReusableAnswer): Promise<Response> {
  const { body, block, maxAgeSecs } = answer;
  c.set('reusable', answer);
  if (block) setBlockHeaders(c, block);
  return maxAgeSecs === undefined ? sendReady(c, body) : sendCached(c, body, maxAgeSecs);
}
