import { EventQueue } from './event-queue.ts';
import { Machine, type TimedEvent } from './machine.ts';

/** Wall time when virtual time begins, Unix milliseconds. */
const EPOCH_MS = 1_700_000_000_000;
/** After so many events others of this thread have a turn. */
const TURN_EVENTS = 20_000;

const realImmediate = setImmediate;

/**
 * Time that passes only by events, one after the other, each with all promises that follow from it settled. So all code
 * until the next event is that of the machine to which the last one happened.
 */
export class VirtualTime {
  /** Milliseconds since the beginning. */
  now = 0;
  /** How many events happened. */
  count = 0;
  readonly #queue = new EventQueue();
  /** What has no machine of its own. */
  readonly world = new Machine('world');
  /** The machine whose code runs. */
  machine = this.world;

  /** Monotonic and wall time, as the machine sees them whose code runs. */
  monotonicMs(): number {
    return this.now + this.machine.startedAt;
  }
  wallMs(): number {
    return this.trueMs() + this.machine.skewMs;
  }

  /** Wall time without any error. */
  trueMs(): number {
    return EPOCH_MS + this.now;
  }

  /** Runs code of a machine now; not what it awaits. */
  in<T>(machine: Machine, run: () => T): T {
    const before = this.machine;
    this.machine = machine;
    try {
      return run();
    } finally {
      this.machine = before;
    }
  }

  /**
   * Lets something happen to a machine later. While it stands still that waits; once it is dead it does not happen.
   *
   * @returns prevents it
   */
  after(ms: number, run: () => void, machine = this.machine, isTimer = false): () => void {
    const event: TimedEvent = { at: this.now + Math.max(0, ms), run, machine, isTimer, isDropped: false };
    this.#queue.push(event);
    return () => {
      event.isDropped = true;
    };
  }

  /** Lets a machine go on: timers ring, then what waited in sockets is read. */
  thaw(machine: Machine): void {
    machine.isStopped = false;
    machine.thawedAt = this.now;
    const held = machine.held.splice(0);
    for (const isTimer of [true, false])
      for (const event of held) {
        if (event.isTimer !== isTimer) continue;
        event.at = this.now;
        this.#queue.push(event);
      }
  }

  /** Lets time pass. Rejects with what an event throws. */
  pass(ms: number): Promise<void> {
    const until = this.now + ms;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const step = () => {
      try {
        const event = this.#nextUntil(until);
        if (!event) {
          this.now = until;
          this.machine = this.world;
          return resolve();
        }
        this.now = event.at;
        this.count += 1;
        this.machine = event.machine;
        event.run();
      } catch (error) {
        return reject(error);
      }
      if (this.count % TURN_EVENTS === 0) return void realImmediate(step);
      // A tick that is asked for by a promise comes once all promises are settled.
      queueMicrotask(tick);
    };
    const tick = () => process.nextTick(step);
    tick();
    return promise;
  }

  /** Takes the first event that happens; what comes to a machine that stands still waits there. */
  #nextUntil(until: number): TimedEvent | undefined {
    for (;;) {
      const event = this.#queue.popUntil(until);
      if (!event || !(event.machine.isDead || event.machine.isStopped)) return event;
      if (!event.machine.isDead) event.machine.held.push(event);
    }
  }
}
