import { AsyncLocalStorage } from 'node:async_hooks';
import { EventQueue, type TimedEvent } from './event-queue.ts';

const running = new AsyncLocalStorage<Machine>();

/** A process, or what else has a clock of its own, may stand still, and ends at once when it is killed. */
export class Machine {
  readonly name: string;
  /** Reading of its monotonic clock when virtual time began. */
  readonly startedAt: number;
  /** Runs code as that of this machine, and all that follows from it. */
  readonly run = running.run(this, () => AsyncLocalStorage.snapshot()) as <T>(code: () => T) => T;
  isStopped = false;
  isDead = false;
  /** How far its wall clock is ahead, milliseconds. */
  skewMs = 0;
  /** How long a head that a node pushes is on its way to it. */
  pushMs = 5;
  /** When it last went on after it stood still, by virtual time. */
  thawedAt = 0;
  /** What came while it stood still: timers that rang, and messages that waited in its sockets. */
  readonly held: { readonly isTimer: boolean; readonly run: () => void }[] = [];

  constructor(name: string, startedAt = 0) {
    this.name = name;
    this.startedAt = startedAt;
  }
}

/** Wall time when virtual time begins, Unix milliseconds. */
const EPOCH_MS = 1_700_000_000_000;
/** After so many events others of this thread have a turn. */
const TURN_EVENTS = 20_000;

const realImmediate = setImmediate;

/** Time that passes only by events, one after the other, each with all promises that follow from it settled. */
export class VirtualTime {
  /** Milliseconds since the beginning. */
  now = 0;
  /** How many events happened. */
  count = 0;
  readonly #queue = new EventQueue();
  /** What has no machine of its own. */
  readonly world = new Machine('world');

  /** The machine whose code runs. */
  get machine(): Machine {
    return running.getStore() ?? this.world;
  }

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

  /** Runs code of a machine now. */
  in<T>(machine: Machine, run: () => T): T {
    return machine.run(run);
  }

  /**
   * Lets something happen to a machine later. While it stands still that waits; once it is dead it does not happen.
   *
   * @returns prevents it
   */
  after(ms: number, run: () => void, machine = this.machine, isTimer = false): () => void {
    let isOver = false;
    const happen = () => {
      if (isOver || machine.isDead) return;
      if (machine.isStopped) machine.held.push({ isTimer, run: happen });
      else {
        isOver = true;
        machine.run(run);
      }
    };
    const event: TimedEvent = { at: this.now + Math.max(0, ms), run: happen };
    this.#queue.push(event);
    return () => {
      isOver = true;
      event.isDropped = true;
    };
  }

  /** Lets a machine go on: timers ring, then what waited in sockets is read. */
  thaw(machine: Machine): void {
    machine.isStopped = false;
    machine.thawedAt = this.now;
    const held = machine.held.splice(0);
    for (const isTimer of [true, false])
      for (const each of held) if (each.isTimer === isTimer) this.#queue.push({ at: this.now, run: each.run });
  }

  /** Lets time pass. Rejects with what an event throws. */
  pass(ms: number): Promise<void> {
    const until = this.now + ms;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const step = () => {
      try {
        const event = this.#queue.popUntil(until);
        if (!event) {
          this.now = until;
          return resolve();
        }
        this.now = Math.max(this.now, event.at);
        this.count += 1;
        event.run();
      } catch (error) {
        return reject(error);
      }
      if (this.count % TURN_EVENTS === 0) return void realImmediate(step);
      // A tick that is asked for by a promise comes once all promises are settled.
      queueMicrotask(() => process.nextTick(step));
    };
    process.nextTick(step);
    return promise;
  }
}
