import { Alarm } from '../../runtime/alarm.ts';
import type { LiveFeed } from '../live/live-feed.ts';
import { NEW_SHARED_FEED, nextSharedFeed, type Reader, type SharedFeedEvent } from './feed-schedule.ts';
import { parseOverrides, writeOverrides } from './messages.ts';

export interface SharedFeedDeps {
  readonly feed: Pick<LiveFeed, 'isClosed' | 'now' | 'read' | 'rest' | 'take' | 'state' | 'shared' | 'onFrame'>;
  /** Who reads the sources for the next `LEASE_MS`. Rejects while Redis does not answer. */
  readonly findReader: () => Promise<Reader>;
  /**
   * Sends a text to all other processes. Handles its failures itself. Absent: this process only takes what others send.
   */
  readonly publish?: (text: string) => void;
}

/**
 * Shares the state overrides of a chain, whose sources one process reads for all. The others get the overrides from it.
 * While Redis does not answer, each process reads the sources by itself. Does what {@link nextSharedFeed} says.
 */
export class SharedFeed {
  readonly #deps: SharedFeedDeps;
  #state = NEW_SHARED_FEED;
  readonly #alarm = new Alarm(() => this.#next({ kind: 'time' }));

  constructor(deps: SharedFeedDeps) {
    this.#deps = deps;
    deps.feed.onFrame(() => {
      if (this.#state.isReading) this.#next({ kind: 'frame', digest: this.#digest() });
    });
  }

  /** Starts or ends reading the sources, and publishes what holds. To be called each `RENEW_MS`. */
  async tick(): Promise<void> {
    const { feed, findReader } = this.#deps;
    if (feed.isClosed) return;
    this.#next({ kind: 'reader', reader: await findReader().catch(() => 'unknown' as const) });
  }

  /** Takes what another process published. @throws SyntaxError or ZodError when it is malformed */
  take(text: string): void {
    if (this.#next({ kind: 'message' })) this.#deps.feed.take(parseOverrides(text));
  }

  /** @returns whether to use the message that came */
  #next(event: SharedFeedEvent): boolean {
    const { feed } = this.#deps;
    const now = feed.now();
    const [state, { sources, isTaken, isPublishDue, wakeAt }] = nextSharedFeed(this.#state, event, now);
    this.#state = state;
    this.#alarm.set(wakeAt, now);
    if (sources) feed[sources]();
    if (isPublishDue) this.#publish();
    return isTaken;
  }

  #publish(): void {
    const { feed, publish } = this.#deps;
    const blocks = publish && feed.shared();
    if (!blocks) return;
    publish(writeOverrides(blocks));
    this.#next({ kind: 'published', digest: this.#digest() });
  }

  #digest(): string | null {
    return this.#deps.feed.state()?.digest ?? null;
  }
}
