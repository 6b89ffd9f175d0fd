import { createRequire, syncBuiltinESMExports } from 'node:module';
import type { Random } from './random.ts';
import type { VirtualTime } from './virtual-time.ts';

const promises = createRequire(import.meta.url)('node:timers/promises');

/** What `setTimeout` and `setInterval` return. */
class VirtualTimer {
  readonly #time: VirtualTime;
  readonly #ms: number;
  readonly #ring: () => void;
  #cancel: () => void = () => undefined;

  constructor(time: VirtualTime, ms: number, ring: () => void) {
    this.#time = time;
    this.#ms = ms;
    this.#ring = ring;
    this.refresh();
  }

  refresh(): this {
    this.#cancel();
    this.#cancel = this.#time.after(this.#ms, this.#ring, this.#time.machine, true);
    return this;
  }

  clear(): void {
    this.#cancel();
  }

  ref(): this {
    return this;
  }

  unref(): this {
    return this;
  }
}

type Callback = (...args: unknown[]) => void;

/** The reason of all signals that time out: most are of work that is over, and errors cost more than all else. */
const TIMED_OUT = new DOMException('The operation was aborted due to timeout', 'TimeoutError');

const abortError = (): Error => Object.assign(new Error('aborted'), { name: 'AbortError', code: 'ABORT_ERR' });

/**
 * Makes clocks and timers of this thread, those of promises too, and `Math.random`, those of a simulation.
 *
 * @returns undoes that
 */
export function installTime(time: VirtualTime, random: Random): () => void {
  const set = (ms: number, ring: () => void) => new VirtualTimer(time, Math.max(1, Math.trunc(ms || 0)), ring);
  const undo: (() => void)[] = [];
  const replace = (target: object, name: string, make: (original: never) => unknown) => {
    const before = Object.getOwnPropertyDescriptor(target, name);
    const value = make((target as Record<string, unknown>)[name] as never);
    Object.defineProperty(target, name, { value, configurable: true, writable: true });
    undo.push(() => {
      if (before) Object.defineProperty(target, name, before);
      else delete (target as Record<string, unknown>)[name];
    });
  };
  const clear = (original: (timer: unknown) => void) => (timer: unknown) =>
    timer instanceof VirtualTimer ? timer.clear() : original(timer);
  replace(
    globalThis,
    'setTimeout',
    () =>
      (run: Callback, ms: number, ...args: unknown[]) =>
        set(ms, () => run(...args)),
  );
  replace(globalThis, 'setInterval', () => (run: Callback, ms: number, ...args: unknown[]) => {
    const timer: VirtualTimer = set(ms, () => {
      timer.refresh();
      run(...args);
    });
    return timer;
  });
  replace(
    globalThis,
    'setImmediate',
    () =>
      (run: Callback, ...args: unknown[]) =>
        new VirtualTimer(time, 0, () => run(...args)),
  );
  for (const name of ['clearTimeout', 'clearInterval', 'clearImmediate']) replace(globalThis, name, clear);
  replace(performance, 'now', () => () => time.monotonicMs());
  replace(Date, 'now', () => () => time.wallMs());
  replace(Math, 'random', () => () => random.next());
  replace(AbortSignal, 'timeout', () => (ms: number) => {
    const controller = new AbortController();
    set(ms, () => controller.abort(TIMED_OUT));
    return controller.signal;
  });
  const sleep = (ms: number, value: unknown, signal?: AbortSignal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abortError());
      const abort = () => {
        timer.clear();
        reject(abortError());
      };
      const timer = set(ms, () => {
        signal?.removeEventListener('abort', abort);
        resolve(value);
      });
      signal?.addEventListener('abort', abort, { once: true });
      return undefined;
    });
  replace(
    promises,
    'setTimeout',
    () => (ms: number, value?: unknown, options?: { signal?: AbortSignal }) => sleep(ms, value, options?.signal),
  );
  replace(
    promises,
    'setImmediate',
    () => (value?: unknown) => new Promise((resolve) => time.after(0, () => resolve(value))),
  );
  syncBuiltinESMExports();
  return () => {
    for (const each of undo.reverse()) each();
    syncBuiltinESMExports();
  };
}
