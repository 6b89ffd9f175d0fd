import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../runtime/logger.ts';

/** Takes frames. Must not throw. */
export interface FrameReader<F> {
  take(frame: F): void;
  /** Called once, when there was no frame for `MAX_SILENCE_MS`; nothing follows. */
  onSilence(): void;
}

export interface FrameFeedDeps<F> {
  /** Makes a frame; null when there is nothing to say now. */
  readonly make: () => Promise<F | null>;
  /** Called when the first reader comes; what it gives is called after the last one left. */
  readonly start: (changed: () => void) => () => void;
  /** Shortest time between two frames. */
  readonly minMs: number;
  readonly logger: Pick<Logger, 'error'>;
}

/** Longest time between two frames: one comes each second at least, also if a timer is late. */
const EVERY_MS = 900;
const MAX_SILENCE_MS = 2_000;

/** Makes frames while there are readers, at each change and once a second at least, each one once for all readers. */
export class FrameFeed<F> {
  readonly #deps: FrameFeedDeps<F>;
  readonly #readers = new Set<FrameReader<F>>();
  #last: F | null = null;
  #isRunning = false;
  #isChanged = false;
  #wake: () => void = () => undefined;

  constructor(deps: FrameFeedDeps<F>) {
    this.#deps = deps;
  }

  /** Adds a reader, which gets the last frame at once. @returns removes it; may be called more than once */
  add(reader: FrameReader<F>): () => void {
    this.#readers.add(reader);
    if (this.#last !== null) reader.take(this.#last);
    if (!this.#isRunning) void this.#run();
    return () => {
      if (this.#readers.delete(reader) && this.#readers.size === 0) this.#wake();
    };
  }

  async #run(): Promise<void> {
    const changed = () => {
      this.#isChanged = true;
      this.#wake();
    };
    const { start, make, minMs, logger } = this.#deps;
    const onError = (err: unknown) => {
      logger.error({ err }, 'failed to make a frame');
      return null;
    };
    this.#isRunning = true;
    const stop = start(changed);
    let madeAt = performance.now();
    while (this.#readers.size > 0) {
      this.#isChanged = false;
      const frame = await make().catch(onError);
      this.#last = frame;
      if (frame !== null) madeAt = performance.now();
      for (const reader of this.#readers) {
        if (frame !== null) reader.take(frame);
        else if (performance.now() - madeAt > MAX_SILENCE_MS) this.#end(reader);
      }
      if (frame !== null) await sleep(minMs, undefined, { ref: false });
      if (!this.#isChanged && this.#readers.size > 0) await this.#wait(frame === null ? minMs : EVERY_MS - minMs);
    }
    this.#isRunning = false;
    this.#last = null;
    stop();
  }

  #end(reader: FrameReader<F>): void {
    this.#readers.delete(reader);
    reader.onSilence();
  }

  #wait(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** Feeds by a key, each as long as it has readers: add one at once. */
export class FrameFeeds<F> {
  readonly #feeds = new Map<string, FrameFeed<F>>();

  of(key: string, open: () => FrameFeedDeps<F>): FrameFeed<F> {
    const known = this.#feeds.get(key);
    if (known) return known;
    const deps = open();
    const start: typeof deps.start = (changed) => {
      const stop = deps.start(changed);
      return () => {
        this.#feeds.delete(key);
        stop();
      };
    };
    const feed = new FrameFeed({ ...deps, start });
    this.#feeds.set(key, feed);
    return feed;
  }
}
