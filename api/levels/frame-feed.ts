import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../runtime/logger.ts';

/** Takes frames. Must not throw. */
export interface FrameReader {
  /** Whether it takes a frame now. Otherwise it waits for a later one. */
  readonly isReady: boolean;
  take(frame: Buffer): void;
  /** Called once, when there was no frame for `MAX_SILENCE_MS`; nothing follows. */
  onSilence(): void;
}

/** Adds a reader, which gets the last frame at once. @returns removes it; may be called more than once */
export type FrameFeed = (reader: FrameReader) => () => void;

export interface FrameSource {
  /** Makes a frame of what is known, without waiting for more; null when there is nothing to say now. */
  readonly make: () => Promise<Buffer | null>;
  /** Called when the first reader comes. It returns a function that is called after the last reader left. */
  readonly start: (changed: () => void) => () => void;
  /** Shortest and longest time between two frames. */
  readonly minMs: number;
  readonly maxMs: number;
}

/** A feed while it has readers. */
interface RunningFeed {
  readonly readers: Set<FrameReader>;
  last: Buffer | null;
  wake: () => void;
}

const MAX_SILENCE_MS = 2_000;

/** The feeds of all chains by a key, each as long as it has readers. */
export class FrameFeeds {
  readonly #feeds = new Map<string, RunningFeed>();
  /** The last frame that was asked for: one is made after the other, so that many feeds do not fill the event loop. */
  #made: Promise<Buffer | null> = Promise.resolve(null);

  constructor(private readonly logger: Pick<Logger, 'error'>) {}

  of(key: string, open: () => FrameSource): FrameFeed {
    return (reader) => {
      const known = this.#feeds.get(key);
      const feed = known ?? { readers: new Set(), last: null, wake: () => undefined };
      feed.readers.add(reader);
      if (feed.last !== null) reader.take(feed.last);
      if (!known) void this.#run(key, feed, open());
      return () => {
        if (feed.readers.delete(reader) && feed.readers.size === 0) feed.wake();
      };
    };
  }

  /**
   * Makes frames while there are readers: at each change, and after the longest time without one. A frame is made once
   * and goes to all readers that are ready; none is made while no reader is.
   */
  async #run(key: string, feed: RunningFeed, { start, make, minMs, maxMs }: FrameSource): Promise<void> {
    const { readers } = feed;
    this.#feeds.set(key, feed);
    const silence = setTimeout(() => {
      for (const reader of readers) reader.onSilence();
      readers.clear();
    }, MAX_SILENCE_MS).unref();
    let isChanged = false;
    const stop = start(() => {
      isChanged = true;
      feed.wake();
    });
    while (readers.size > 0) {
      isChanged = false;
      const isWanted = readers.values().some(({ isReady }) => isReady);
      if (isWanted) feed.last = await this.#makeInTurn(make);
      const frame = isWanted ? feed.last : null;
      if (frame !== null || !isWanted) silence.refresh();
      for (const reader of readers) if (frame !== null && reader.isReady) reader.take(frame);
      if (frame !== null) await sleep(minMs, undefined, { ref: false });
      if (isChanged || readers.size === 0) continue;
      const woken = new AbortController();
      feed.wake = () => woken.abort();
      const waitMs = frame === null ? minMs : maxMs - minMs;
      await sleep(waitMs, undefined, { ref: false, signal: woken.signal }).catch(() => undefined);
    }
    clearTimeout(silence);
    this.#feeds.delete(key);
    stop();
  }

  #makeInTurn(make: FrameSource['make']): Promise<Buffer | null> {
    this.#made = this.#made.then(make).catch((err: unknown) => {
      this.logger.error({ err }, 'failed to make a frame');
      return null;
    });
    return this.#made;
  }
}
