import { type FeedEvent, type FeedState, newFeed, nextFeed } from './frame-schedule.ts';
import { madeOf } from './made-frame.fixture.ts';

export const PACE = { minMs: 250, maxMs: 900, maxLateMs: 10_000 };

export interface Reader {
  readonly name: string;
  isReady: boolean;
}
export const readerOf = (name: string, isReady = true): Reader => ({ name, isReady });

export interface Step {
  readonly waitMs: number;
  readonly what: 'join' | 'leave' | 'change' | 'readiness';
  readonly isReady: boolean;
  readonly of: number;
  readonly made: 'frame' | 'late' | null;
}

/** What a reader saw. `age`: of its frame, milliseconds. */
interface Seen {
  readonly at: number;
  readonly name: string;
  readonly what: 'frame' | 'end';
  readonly age: number;
}

/** A run of a feed as its shell does it: `time` comes when it is due. Frames hold when they were made. */
export class FeedRun {
  now = 0;
  readonly readers = new Map<string, { readonly reader: Reader; readonly joinedAt: number }>();
  /** Of readers that left, too. */
  readonly joinedAt = new Map<string, number>();
  /** When frames were made and sent, of one feed after the other. */
  readonly sent: number[][] = [[]];
  readonly seen: Seen[] = [];
  #state: FeedState<Reader> = newFeed();
  #wakeAt: number | null = null;
  /** What the attempt that is running will give. */
  #making: Step | null = null;

  constructor(steps: readonly Step[]) {
    for (const [index, step] of steps.entries()) {
      this.#pass(step);
      this.#act(step, `${index}`);
    }
    const [last] = steps.slice(-1);
    if (last) this.#pass({ ...last, waitMs: 0 });
  }

  #act(step: Step, name: string): void {
    const known = [...this.readers.values()][step.of % Math.max(1, this.readers.size)];
    if (step.what === 'join') {
      const reader = readerOf(name, step.isReady);
      this.readers.set(name, { reader, joinedAt: this.now });
      this.joinedAt.set(name, this.now);
      this.#take({ kind: 'joined', reader }, step);
    } else if (step.what === 'change') this.#take({ kind: 'changed' }, step);
    else if (known && step.what === 'leave') {
      this.readers.delete(known.reader.name);
      this.#take({ kind: 'left', reader: known.reader }, step);
    } else if (known && step.what === 'readiness') known.reader.isReady = !known.reader.isReady;
  }

  #pass(step: Step): void {
    const until = this.now + step.waitMs;
    while (this.#making !== null || (this.#wakeAt !== null && this.#wakeAt <= until)) {
      if (this.#making !== null) {
        const { made } = this.#making;
        this.#making = null;
        this.#take({ kind: 'made', made: made === 'frame' ? madeOf(`${this.now}`) : made }, step);
      } else {
        this.now = Math.max(this.now, this.#wakeAt ?? this.now);
        this.#take({ kind: 'time' }, step);
      }
    }
    this.now = until;
  }

  #take(event: FeedEvent<Reader>, step: Step): void {
    const [next, { wakeAt, isMakeDue, send, silent }] = nextFeed(this.#state, event, this.now, PACE);
    this.#state = next;
    this.#wakeAt = wakeAt;
    if (isMakeDue) this.#making = step;
    for (const { name, isReady } of send?.to ?? [])
      if (isReady) this.seen.push({ at: this.now, name, what: 'frame', age: this.now - Number(send?.made.frame) });
    for (const { name } of silent) {
      this.seen.push({ at: this.now, name, what: 'end', age: 0 });
      this.readers.delete(name);
    }
    if (event.kind === 'made' && send) this.sent.at(-1)?.push(this.now);
    if (wakeAt === null) this.#end();
  }

  /** The feed has ended; another one begins with the next reader. */
  #end(): void {
    this.#state = newFeed();
    this.#making = null;
    this.sent.push([]);
  }
}
