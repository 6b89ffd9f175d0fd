/** How far a backfill is. */
export type Progress = {
  /** Blocks between the first ones and the chains' heads, of all chains. */
  readonly totalBlocks: number;
  readonly doneBlocks: number;
  /** Events written by this run. */
  readonly events: number;
  readonly eventsPerSec: number;
  /** Null while it is unknown. */
  readonly secondsLeft: number | null;
};

/** What a backfill waits for, in words that follow "waiting for", and for how many whole seconds it has. */
export type Wait = { readonly for: string; readonly seconds: number };

/** Where every chain is, by chain id. */
export type Position = {
  readonly startBlocks: ReadonlyMap<number, number>;
  readonly indexed: ReadonlyMap<number, number>;
  readonly heads: ReadonlyMap<number, number>;
};

/** Blocks to do and done, of all chains together. */
export function countBlocks({ startBlocks, indexed, heads }: Position): { total: number; done: number } {
  let total = 0;
  let done = 0;
  for (const [chainId, start] of startBlocks) {
    const length = Math.max(0, (heads.get(chainId) ?? start) - start);
    total += length;
    done += Math.min(length, Math.max(0, (indexed.get(chainId) ?? start) - start));
  }
  return { total, done };
}

/** Rates are means over this time: long enough to be steady, short enough to follow. */
const WINDOW_MS = 30_000;
/** Shorter stops are not worth reporting. */
const MIN_WAIT_MS = 3_000;

/** Turns the counters of a backfill into rates, and notes what it waits for. Times are milliseconds of one clock. */
export class ProgressMeter {
  #polls: { readonly atMs: number; readonly done: number; readonly events: number }[] = [];
  #needed = 'Postgres';
  #sinceMs: number;

  constructor(atMs: number) {
    this.#sinceMs = atMs;
  }

  /** Notes what the backfill needs now. Another need is another wait. */
  needs(needed: string, atMs: number): void {
    if (needed !== this.#needed) this.#sinceMs = atMs;
    this.#needed = needed;
  }

  /** Takes the counters, and gives the rates since {@link WINDOW_MS} ago or the first counters. */
  measure(atMs: number, { total, done }: { readonly total: number; readonly done: number }, events: number): Progress {
    const last = this.#polls.at(-1);
    if (done !== last?.done || events !== last.events) this.#sinceMs = atMs;
    this.#polls = this.#polls.filter((poll) => poll.atMs >= atMs - WINDOW_MS);
    this.#polls.push({ atMs, done, events });
    const first = this.#polls[0] ?? { atMs, done, events };
    const perSec = (grown: number) => (atMs > first.atMs ? (Math.max(0, grown) * 1_000) / (atMs - first.atMs) : 0);
    const blocksPerSec = perSec(done - first.done);
    const secondsLeft = blocksPerSec > 0 ? Math.ceil((total - done) / blocksPerSec) : null;
    return {
      totalBlocks: total,
      doneBlocks: done,
      events,
      eventsPerSec: Math.round(perSec(events - first.events)),
      secondsLeft: total === done ? 0 : secondsLeft,
    };
  }

  /** Null while the counters grow, and for the first seconds after. */
  wait(atMs: number): Wait | null {
    const ms = atMs - this.#sinceMs;
    return ms < MIN_WAIT_MS ? null : { for: this.#needed, seconds: Math.floor(ms / 1_000) };
  }
}
