import { Alarm } from '../../runtime/alarm.ts';
import type { Clock } from '../../runtime/clock.ts';
import { unavailable } from '../errors.ts';
import type { FrameFeed } from './frame-feed.ts';
import type { MadeFrame } from './frame-schedule.ts';
import { type AskedEvent, NOT_ASKED, nextAsked } from './next-asked.ts';

/**
 * Gives frames of a feed to clients that ask for one, from one reader for all of them: does at the right time what
 * {@link nextAsked} says.
 */
export class AskedFrames {
  readonly #now: Clock;
  #state = NOT_ASKED;
  #waiting: PromiseWithResolvers<MadeFrame>[] = [];
  #feed: FrameFeed | undefined;
  #leave: (() => void) | undefined;
  readonly #alarm = new Alarm(() => this.#take({ kind: 'time' }));

  constructor(now: Clock) {
    this.#now = now;
  }

  /**
   * Gives the next frame that is begun from now on.
   *
   * @param open gives the feed; called only while it is not read
   * @throws ApiError 503 when there is none, and what `open` throws
   */
  async read(open: () => Promise<FrameFeed>): Promise<MadeFrame> {
    if (!this.#state.isReading) {
      const opened = await open();
      // Another client may have opened it meanwhile.
      if (!this.#state.isReading) this.#feed = opened;
    }
    const waiting = Promise.withResolvers<MadeFrame>();
    this.#waiting.push(waiting);
    this.#take({ kind: 'asked' });
    this.#feed?.renew();
    return waiting.promise;
  }

  /** Whether it is a reader of its feed. */
  get isReading(): boolean {
    return this.#state.isReading;
  }

  #take(event: AskedEvent): void {
    const now = this.#now();
    const [state, { answer, reading, wakeAt }] = nextAsked(this.#state, event, now);
    this.#state = state;
    this.#alarm.set(wakeAt, now);
    for (const { resolve, reject } of this.#waiting.splice(0, answer?.count ?? 0)) {
      if (answer?.frame === 'late') reject(unavailable(new Error('there is no frame of the chain')));
      else if (answer) resolve(answer.frame);
    }
    if (reading === false) this.#leave?.();
    if (reading) this.#leave = this.#feed?.(this.#reader);
  }

  readonly #reader = this.#newReader();

  #newReader() {
    const isWaitedFor = () => this.#state.waiting.length > 0;
    return {
      get isReady() {
        return isWaitedFor();
      },
      take: (frame: MadeFrame, begunAt: number) => this.#take({ kind: 'frame', frame, begunAt }),
      onSilence: () => this.#take({ kind: 'silence' }),
    };
  }
}
