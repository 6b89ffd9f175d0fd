import type { WebSocket } from 'ws';
import { DEFLATE_FROM_BYTES, deflatedFrame, deflateMessage } from '../../runtime/message-deflate.ts';
import { perObject } from '../../runtime/per-object.ts';
import { textFrame } from '../../runtime/text-frame.ts';
import { GOING_AWAY } from '../../runtime/web-sockets.ts';
import { type ByeReason, byeOf } from '../sockets/bye.ts';
import { MAX_UNSENT_BYTES } from '../sockets/connections.ts';
import type { OpenSocket } from '../sockets/open-socket.ts';
import type { FrameFeed } from './frame-feed.ts';

/** How messages are written: of builders a frame is one. */
export interface MessageForm {
  /** What comes before a frame, and after it. */
  readonly head: Buffer;
  readonly tail: Buffer;
  /** Null: the form has no such message, and the close says why. */
  readonly bye: (bye: ReturnType<typeof byeOf>) => string | null;
}

const NOTHING = Buffer.alloc(0);
const BARE: MessageForm = { head: NOTHING, tail: NOTHING, bye: (bye) => JSON.stringify({ event: 'bye', ...bye }) };

/** As builders send them: nothing but frames. */
export const FRAMES_ALONE: MessageForm = { ...BARE, bye: () => null };

/** Compressed, and written as they are sent, once for all clients. */
const deflatedOnce = perObject((frame: Buffer) => deflateMessage(frame));
const deflatedAlone = perObject((deflated: Buffer) => deflatedFrame(deflated, NOTHING, NOTHING));
const plainAlone = perObject((frame: Buffer) => textFrame([frame]));

/**
 * Sends the frames of a feed over a WebSocket. A client that reads slowly gets the newest frame when its socket takes
 * more; one that takes nothing answers no pings either. Long frames are compressed where the client offered that.
 *
 * @returns leaves the feed
 */
export function sendFrames(feed: FrameFeed, opened: OpenSocket, form: MessageForm = BARE): () => void {
  const { socket, tcp } = opened;
  const { head, tail } = form;
  const isAlone = head.length + tail.length === 0;
  const isDeflated = socket.extensions.includes('permessage-deflate');
  let isDeflating = false;
  let hasLeft = false;
  // The socket has nothing that waits, as it compresses nothing itself: what is written for all goes past it.
  const send = (message: Buffer) => {
    if (hasLeft || socket.readyState !== socket.OPEN) return;
    opened.largestMessage = Math.max(opened.largestMessage, message.length);
    tcp.write(message);
  };
  const sendPlain = (frame: Buffer) => send(isAlone ? plainAlone(frame) : textFrame([head, frame, tail]));
  const sendDeflated = async (frame: Buffer) => {
    isDeflating = true;
    const deflated = await deflatedOnce(frame).catch(() => null);
    isDeflating = false;
    if (deflated) send(isAlone ? deflatedAlone(deflated) : deflatedFrame(deflated, head, tail));
    else sendPlain(frame);
  };
  const leave = feed({
    get isReady() {
      return !isDeflating && socket.bufferedAmount < MAX_UNSENT_BYTES;
    },
    take({ frame }) {
      if (isDeflated && frame.length >= DEFLATE_FROM_BYTES) void sendDeflated(frame);
      else sendPlain(frame);
    },
    onSilence: () => endFrames(socket, 'stale', form),
  });
  return () => {
    hasLeft = true;
    leave();
  };
}

/** Says why a connection ends, and ends it. */
export function endFrames(socket: WebSocket, reason: ByeReason | 'stale', form: MessageForm = BARE): void {
  const bye = form.bye(byeOf(reason));
  if (bye !== null) socket.send(bye);
  socket.close(GOING_AWAY, bye === null ? reason : undefined);
}
