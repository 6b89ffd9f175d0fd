import type { Fault } from './action.ts';
import type { VirtualTime } from './virtual-time.ts';

/** How long after its end a fault may still show, milliseconds. */
const RECOVERY_MS: Readonly<Record<Fault['do'], number>> = {
  lie: 1_500,
  // A reader of a process that stood still may not have heard yet that its connection ended.
  stop: 8_000,
  kill: 8_000,
  silence: 1_500,
  // What was sent of a block too high counts once nothing of a lower one comes for as long as state is used.
  leap: 10_000,
  // The breaker of a node pauses for 15 s at most.
  node: 17_000,
  // A chain counts as rolled back after 10 s; so does one whose node lags.
  lag: 13_000,
  reorganise: 13_000,
  redis: 5_000,
  weather: 5_000,
  empty: 15_000,
};

/** Knows what goes wrong, and since when all has recovered from it. */
export class Faults {
  readonly #time: VirtualTime;
  /** How many of each kind last. */
  readonly #active = new Map<Fault['do'], number>();
  /** When all has recovered from those of a kind that ended. */
  readonly #recoveredAt = new Map<Fault['do'], number>();

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  /** Since when all is well, but for faults of some kinds; infinite while something is wrong. */
  calmSince(except: readonly Fault['do'][] = []): number {
    for (const [kind, count] of this.#active) if (count > 0 && !except.includes(kind)) return Number.POSITIVE_INFINITY;
    let since = 0;
    for (const [kind, at] of this.#recoveredAt) if (at > since && !except.includes(kind)) since = at;
    return since;
  }

  /** Whether all was well for so long, but for faults of some kinds. */
  isCalmFor(ms: number, except: readonly Fault['do'][] = []): boolean {
    return this.calmSince(except) + ms <= this.#time.now;
  }

  /** Lets something be wrong for a while. */
  last({ do: kind, ms }: Fault, end: () => void): void {
    const time = this.#time;
    const count = (by: number) => this.#active.set(kind, (this.#active.get(kind) ?? 0) + by);
    count(1);
    const recover = () => {
      count(-1);
      this.passed(kind);
      end();
    };
    time.after(ms, recover, time.world);
  }

  /** Notes that all is to recover from now on, as after a fault of a kind. */
  passed(kind: Fault['do']): void {
    this.#recoveredAt.set(kind, this.#time.now + RECOVERY_MS[kind]);
  }
}
