import { Alarm } from '../../runtime/alarm.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { toApiError } from '../errors.ts';
import { isOutage } from '../fault.ts';
import { type FeedEvent, type FramePace, type Made, type MadeFrame, newFeed, nextFeed } from './frame-schedule.ts';

/** Takes frames. Must not throw. */
export interface FrameReader {
  /** Whether it takes a frame now. Otherwise it waits for a later one. */
  readonly isReady: boolean;
  /** @param begunAt when its making began, on the clock of the feeds */
  take(made: MadeFrame, begunAt: number): void;
  /** Called once, when it got no frame for too long; nothing follows. */
  onSilence(): void;
}

export interface FrameFeed {
  /** Adds a reader. @returns removes it; may be called more than once */
  (reader: FrameReader): () => void;
  /** Has a frame begun from now on, as for a new reader. */
  readonly renew: () => void;
}

export interface FrameSource extends FramePace {
  /** Makes a frame of what is known, without waiting for more. */
  readonly make: () => Promise<Made>;
  /** Whether that takes so little that it waits for no other frame. */
  readonly isShort?: true;
  /** Whether clients without a key choose what it shows: no frame of others waits for it. */
  readonly isOfAnyone?: boolean;
  /** Called when the first reader comes. It returns a function that is called after the last reader left. */
  readonly start: (changed: () => void) => () => void;
}

/** Makes a frame when it is its turn. Null when that fails, which is logged. */
type MakeInTurn = (make: () => Promise<Made>) => Promise<Made>;

/** The feeds of all chains by a key, a list in JSON, each as long as it has readers. */
export class FrameFeeds {
  readonly #logger: Pick<Logger, 'error'>;
  readonly #now: Clock;
  readonly #feeds = new Map<string, RunningFeed>();
  /**
   * The last long frame of each line: those of a line are made one after the other, and leave time for all else. What
   * clients without a key choose has a line of its own, since each of their connections may ask for another frame.
   */
  readonly #made = { ofAnyone: Promise.resolve<Made>(null), others: Promise.resolve<Made>(null) };

  constructor(logger: Pick<Logger, 'error'>, now: Clock) {
    this.#logger = logger;
    this.#now = now;
  }

  /** @param open gives the source of a feed that has no readers yet */
  of(key: string, open: () => FrameSource): FrameFeed {
    const join = (reader: FrameReader) => {
      const feed = this.#feeds.get(key) ?? this.#start(key, open());
      feed.take({ kind: 'joined', reader });
      return () => feed.take({ kind: 'left', reader });
    };
    return Object.assign(join, { renew: () => this.#feeds.get(key)?.take({ kind: 'asked' }) });
  }

  /** How many readers the feeds have whose key begins with these values. */
  readersOf(values: readonly unknown[]): number {
    const beginning = `${JSON.stringify(values).slice(0, -1)},`;
    const feeds = [...this.#feeds].filter(([key]) => key.startsWith(beginning));
    return feeds.reduce((sum, [, { readers }]) => sum + readers, 0);
  }

  #start(key: string, source: FrameSource): RunningFeed {
    const onEnd = () => this.#feeds.delete(key);
    const makeInTurn = source.isShort ? this.#makeNow : this.#inTurnOf(source.isOfAnyone ? 'ofAnyone' : 'others');
    const feed = new RunningFeed(source, { now: this.#now, makeInTurn, onEnd });
    this.#feeds.set(key, feed);
    return feed;
  }

  #inTurnOf(line: 'ofAnyone' | 'others'): MakeInTurn {
    return (make) => {
      this.#made[line] = this.#made[line].then(() => this.#makeNow(make));
      return this.#made[line];
    };
  }

  readonly #makeNow: MakeInTurn = (make) =>
    make().catch((err: unknown) => {
      if (!isOutage(toApiError(err).fault)) this.#logger.error({ err }, 'failed to make a frame');
      return null;
    });
}

interface FeedDeps {
  readonly now: Clock;
  readonly makeInTurn: MakeInTurn;
  /** Called when the last reader left. */
  readonly onEnd: () => void;
}

/** A feed while it has readers: does at the right time what {@link nextFeed} says. */
class RunningFeed {
  readonly #source: FrameSource;
  readonly #deps: FeedDeps;
  #state = newFeed<FrameReader>();
  readonly #alarm = new Alarm(() => this.take({ kind: 'time' }));
  #hasEnded = false;
  readonly #stop: () => void;

  constructor(source: FrameSource, deps: FeedDeps) {
    this.#source = source;
    this.#deps = deps;
    this.#stop = source.start(() => {
      if (this.#state.readers.size > 0) this.take({ kind: 'changed' });
    });
  }

  get readers(): number {
    return this.#state.readers.size;
  }

  take(event: FeedEvent<FrameReader>): void {
    if (this.#hasEnded) return;
    const now = this.#deps.now();
    const [state, { wakeAt, isMakeDue, send, silent }] = nextFeed(this.#state, event, now, this.#source);
    this.#state = state;
    this.#alarm.set(wakeAt, now);
    if (wakeAt === null) this.#end();
    if (isMakeDue) void this.#make();
    // Readers may join and leave meanwhile.
    if (send) for (const reader of send.to) if (reader.isReady) reader.take(send.made, send.begunAt);
    for (const reader of silent) reader.onSilence();
  }

  async #make(): Promise<void> {
    const made = await this.#deps.makeInTurn(async () => (this.#hasEnded ? null : this.#source.make()));
    this.take({ kind: 'made', made });
  }

  #end(): void {
    this.#hasEnded = true;
    this.#stop();
    this.#deps.onEnd();
  }
}
