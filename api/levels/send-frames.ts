import type { WebSocket } from 'ws';
import { GOING_AWAY } from '../../runtime/web-sockets.ts';
import { type ByeReason, byeOf } from '../sockets/bye.ts';
import { MAX_UNSENT_BYTES } from '../sockets/connections.ts';
import type { OpenSocket } from '../sockets/open-socket.ts';
import type { FrameFeed } from './frame-feed.ts';

/** How messages are written: of builders a frame is one. */
export interface MessageForm {
  readonly frame: (frame: Buffer) => Buffer;
  /** Null: the form has no such message, and the close says why. */
  readonly bye: (bye: ReturnType<typeof byeOf>) => string | null;
}

const BARE: MessageForm = { frame: (frame) => frame, bye: (bye) => JSON.stringify({ event: 'bye', ...bye }) };

/** As builders send them: nothing but frames. */
export const FRAMES_ALONE: MessageForm = { frame: (frame) => frame, bye: () => null };

/**
 * Sends the frames of a feed over a WebSocket. A client that reads slowly gets the newest frame when its socket takes more;
 * one that takes nothing answers no pings either.
 *
 * @returns leaves the feed
 */
export function sendFrames(feed: FrameFeed, opened: OpenSocket, form: MessageForm = BARE): () => void {
  const { socket } = opened;
  return feed({
    get isReady() {
      return socket.bufferedAmount < MAX_UNSENT_BYTES;
    },
    take(frame) {
      const message = form.frame(frame);
      opened.largestMessage = Math.max(opened.largestMessage, message.length);
      socket.send(message, { binary: false });
    },
    onSilence: () => endFrames(socket, 'stale', form),
  });
}

/** Says why a connection ends, and ends it. */
export function endFrames(socket: WebSocket, reason: ByeReason | 'stale', form: MessageForm = BARE): void {
  const bye = form.bye(byeOf(reason));
  if (bye !== null) socket.send(bye);
  socket.close(GOING_AWAY, bye === null ? reason : undefined);
}
