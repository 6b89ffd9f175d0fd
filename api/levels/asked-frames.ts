import { Alarm } from '../../runtime/alarm.ts';
import type { Clock } from '../../runtime/clock.ts';
import { unavailable } from '../errors.ts';
import type { FrameFeed } from './frame-feed.ts';
import { type AskedEvent, NOT_ASKED, nextAsked } from './next-asked.ts';

/**
 * Gives frames of a feed to clients that ask for one, from one reader for all of them: does at the right time what
 * {@link nextAsked} says.
 */
export class AskedFrames {
  #state = NOT_ASKED;
  #waiting: PromiseWithResolvers<Buffer>[] = [];
  #leave: (() => void) | undefined;
  readonly #alarm = new Alarm(() => this.#take({ kind: 'time' }));

  constructor(private readonly now: Clock) {}

  /**
   * Gives a frame.
   *
   * @param open gives the feed; called only while it is not read
   * @param isOutdated whether a later block than that of a frame was read
   * @throws ApiError 503 when there is none, and what `open` throws
   */
  async read(open: () => Promise<FrameFeed>, isOutdated: (frame: Buffer) => boolean): Promise<Buffer> {
    const feed = this.#state.isReading ? undefined : await open();
    const waiting = Promise.withResolvers<Buffer>();
    this.#waiting.push(waiting);
    const { frame } = this.#state;
    this.#take({ kind: 'asked', isOutdated: frame !== null && isOutdated(frame) }, feed);
    return waiting.promise;
  }

  /** @param feed to read if it is not read yet */
  #take(event: AskedEvent, feed?: FrameFeed): void {
    const now = this.now();
    const [state, { answer, reading, wakeAt }] = nextAsked(this.#state, event, now);
    this.#state = state;
    this.#alarm.set(wakeAt, now);
    if (answer) this.#answer(answer);
    if (reading === false) this.#leave?.();
    if (reading && feed)
      this.#leave = feed({
        isReady: true,
        take: (frame) => this.#take({ kind: 'frame', frame }),
        onSilence: () => this.#take({ kind: 'silence' }),
      });
  }

  #answer(answer: Buffer | 'late'): void {
    for (const { resolve, reject } of this.#waiting.splice(0)) {
      if (answer === 'late') reject(unavailable(new Error('there is no frame of the chain')));
      else resolve(answer);
    }
  }
}
