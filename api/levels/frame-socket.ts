import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import { byeOf } from '../stream/bye.ts';
import { MAX_UNSENT_BYTES } from '../stream/message-writer.ts';
import { MAX_FULL_SECS } from '../stream/subscriber.ts';
import type { ByeReason } from '../stream/types.ts';
import { GOING_AWAY } from '../stream/web-socket.ts';
import type { FrameReader } from './frame-feed.ts';

/** How messages are written: of builders a frame is one. */
export interface MessageForm {
  readonly frame: (frame: Buffer) => Buffer;
  readonly bye: (bye: ReturnType<typeof byeOf>) => string;
}

const BARE: MessageForm = { frame: (frame) => frame, bye: (bye) => JSON.stringify({ event: 'bye', ...bye }) };

/**
 * Sends the frames of a feed over a WebSocket. A client that reads slowly gets the newest one when its socket takes more;
 * one that takes nothing is terminated.
 */
export class FrameSocket implements FrameReader<Buffer> {
  #waiting: Buffer | null = null;
  #fullSince: number | null = null;

  /**
   * @param tcp what the WebSocket writes to
   * @param onUnread called when the client is terminated
   */
  constructor(
    private readonly socket: WebSocket,
    private readonly tcp: Socket,
    private readonly onUnread: () => void,
    private readonly form: MessageForm = BARE,
  ) {
    tcp.on('drain', this.#drain);
  }

  readonly #drain = () => {
    if (this.#waiting) this.take(this.#waiting);
  };

  /** To be called when the feed is left while the WebSocket stays. */
  stop(): void {
    this.tcp.off('drain', this.#drain);
  }

  take(frame: Buffer): void {
    const isFull = this.socket.bufferedAmount >= MAX_UNSENT_BYTES;
    this.#waiting = isFull ? frame : null;
    if (!isFull) {
      this.#fullSince = null;
      this.socket.send(this.form.frame(frame), { binary: false });
      return;
    }
    this.#fullSince ??= performance.now();
    if (performance.now() - this.#fullSince < MAX_FULL_SECS * 1_000) return;
    this.onUnread();
    this.socket.terminate();
  }

  onSilence(): void {
    this.end('stale');
  }

  /** Says why the connection ends, and ends it. */
  end(reason: ByeReason | 'stale'): void {
    this.socket.send(this.form.bye(byeOf(reason)));
    this.socket.close(GOING_AWAY);
  }
}
