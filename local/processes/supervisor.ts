import { setTimeout as sleep } from 'node:timers/promises';
import { ServiceError } from '../services/service-error.ts';
import { stopRunningServices } from '../services/service-process.ts';
import type { Progress } from './progress.ts';

/** A part that runs: where it is, how to stop it and, for a process, when it ends by itself. */
export interface Part {
  /** Shown when it is ready. */
  readonly note: string;
  readonly stop: () => Promise<void>;
  readonly ended?: Promise<string>;
  readonly recentOutput?: () => string;
}

/** Longest wait for parts that were still starting when the stop came. */
const SETTLE_LIMIT_MS = 10_000;

/** Starts parts, notices when one ends by itself, and stops them all, the last one first. */
export class Supervisor {
  readonly #progress: Progress;
  readonly #running: { readonly name: string; readonly part: Part }[] = [];
  readonly #starting = new Set<Promise<unknown>>();
  #stopping = false;
  readonly #failure = Promise.withResolvers<never>();

  /** Rejects when a part ends by itself; never resolves. */
  readonly failure = this.#failure.promise;

  constructor(progress: Progress) {
    this.#progress = progress;
    // Callers await it later: until then it must not count as unhandled.
    this.failure.catch(() => undefined);
  }

  /**
   * Starts one part and shows it. Parts may start side by side.
   *
   * @throws ServiceError when the stop has begun, or begins meanwhile: the part is not left running
   */
  async start<T extends Part>(name: string, start: () => Promise<T>): Promise<T> {
    if (this.#stopping) throw notStarted(name);
    this.#progress.begin(name);
    const starting = this.#bringUp(name, start);
    this.#starting.add(starting);
    try {
      const part = await starting;
      this.#progress.done(name, part.note);
      return part;
    } finally {
      this.#progress.end(name);
      this.#starting.delete(starting);
    }
  }

  /** Stops everything, whatever state it is in. The errors of parts that cannot be stopped are returned, by name. */
  async stop(): Promise<readonly string[]> {
    this.#stopping = true;
    this.#progress.stop();
    const failures: string[] = [];
    for (const { name, part } of this.#running.splice(0).reverse()) {
      await part.stop().catch((error: unknown) => failures.push(`${name}: ${String(error)}`));
    }
    await stopRunningServices();
    await Promise.race([Promise.allSettled(this.#starting), sleep(SETTLE_LIMIT_MS, undefined, { ref: false })]);
    return failures;
  }

  async #bringUp<T extends Part>(name: string, start: () => Promise<T>): Promise<T> {
    const part = await start();
    if (this.#stopping) {
      await part.stop();
      throw notStarted(name);
    }
    this.#running.push({ name, part });
    this.#watch(name, part);
    return part;
  }

  #watch(name: string, part: Part): void {
    void part.ended?.then((how) => {
      if (this.#stopping) return;
      this.#failure.reject(new ServiceError(`${name} ended by itself (${how})`, part.recentOutput?.()));
    });
  }
}

const notStarted = (part: string) => new ServiceError(`${part} is not started: everything is being stopped`);
