import { z } from 'zod';
import { readJson } from '../../runtime/json.ts';
import { LiveSocket } from '../../runtime/live-socket.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { PushedPart } from './part-feed.ts';

export interface PartSocketOptions {
  readonly url: string;
  /** Called for each part; undefined where the message does not say which. */
  readonly onPart: (part: PushedPart | undefined) => void;
  readonly logger: Logger;
}

const MIN_PAUSE_MS = 500;
const MAX_PAUSE_MS = 10_000;
/** In the order in which they are tried. On nodes that follow parts, heads too come with each part. */
const STREAMS = ['newFlashblocks', 'newHeads'];

const Refusal = z.object({ id: z.int(), error: z.object({}) });
const Push = z.object({ method: z.literal('eth_subscription'), params: z.object({ result: z.unknown() }) });
const Hex = z.string().regex(/^0x[0-9a-fA-F]{1,16}$/);
/** A block as nodes give it, or what the sequencer itself sends. */
const BlockForm = z.object({ number: Hex.transform(BigInt) });
const PayloadForm = z.object({
  index: z.int().nonnegative(),
  metadata: z.object({ block_number: z.int().nonnegative() }),
});

/**
 * Subscribes to the parts that a node pushes, and again after each end of the connection.
 *
 * @returns closes the socket
 */
export function openPartSocket({ url, onPart, logger }: PartSocketOptions): () => void {
  const subscribe = (id: number) => {
    const stream = STREAMS[id];
    if (stream) socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'eth_subscribe', params: [stream] }));
  };
  const socket = new LiveSocket({
    url,
    minPauseMs: MIN_PAUSE_MS,
    maxPauseMs: MAX_PAUSE_MS,
    logger: logger.child({ host: new URL(url).host }),
    onOpen: () => subscribe(0),
    onMessage: (data) => {
      const message = readJson(data.toString());
      const push = Push.safeParse(message).data;
      if (push) return onPart(readPushedPart(push.params.result));
      const refusal = Refusal.safeParse(message).data;
      if (refusal) subscribe(refusal.id + 1);
    },
  });
  return () => socket.close();
}

/** Which part a message is of, in either form; undefined for any other message. */
export function readPushedPart(result: unknown): PushedPart | undefined {
  const payload = PayloadForm.safeParse(result).data;
  if (payload) return { blockNumber: BigInt(payload.metadata.block_number), index: payload.index };
  const block = BlockForm.safeParse(result).data;
  return block && { blockNumber: block.number, index: null };
}
