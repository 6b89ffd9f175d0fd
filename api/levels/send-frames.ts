import type { WebSocket } from 'ws';
import { GOING_AWAY } from '../../runtime/web-sockets.ts';
import { byeOf } from '../stream/bye.ts';
import { MAX_UNSENT_BYTES } from '../stream/message-writer.ts';
import { MAX_FULL_SECS } from '../stream/subscriber.ts';
import type { ByeReason } from '../stream/types.ts';
import type { OpenSocket } from '../stream/web-socket.ts';
import type { FrameFeed } from './frame-feed.ts';

/** How messages are written: of builders a frame is one. */
export interface MessageForm {
  readonly frame: (frame: Buffer) => Buffer;
  readonly bye: (bye: ReturnType<typeof byeOf>) => string;
}

const BARE: MessageForm = { frame: (frame) => frame, bye: (bye) => JSON.stringify({ event: 'bye', ...bye }) };

/**
 * Sends the frames of a feed over a WebSocket. A client that reads slowly gets the newest one when its socket takes more;
 * one that takes nothing is counted and terminated.
 *
 * @returns leaves the feed
 */
export function sendFrames(
  feed: FrameFeed,
  { socket, tcp, terminate }: OpenSocket,
  form: MessageForm = BARE,
): () => void {
  let waiting: Buffer | null = null;
  let fullSince: number | null = null;
  const take = (frame: Buffer) => {
    const isFull = socket.bufferedAmount >= MAX_UNSENT_BYTES;
    waiting = isFull ? frame : null;
    if (!isFull) {
      fullSince = null;
      socket.send(form.frame(frame), { binary: false });
      return;
    }
    fullSince ??= performance.now();
    if (performance.now() - fullSince < MAX_FULL_SECS * 1_000) return;
    terminate('unread');
  };
  const drain = () => {
    if (waiting) take(waiting);
  };
  tcp.on('drain', drain);
  const leave = feed({ take, onSilence: () => endFrames(socket, 'stale', form) });
  return () => {
    tcp.off('drain', drain);
    leave();
  };
}

/** Says why a connection ends, and ends it. */
export function endFrames(socket: WebSocket, reason: ByeReason | 'stale', form: MessageForm = BARE): void {
  socket.send(form.bye(byeOf(reason)));
  socket.close(GOING_AWAY);
}
