/** How far a backfill is. */
export type Progress = {
  /** Blocks between the first ones and the chains' heads, of all chains. */
  readonly totalBlocks: number;
  readonly doneBlocks: number;
  /** Events written by this run. */
  readonly events: number;
  readonly eventsPerSec: number;
  /** Null until it can be told. */
  readonly secondsLeft: number | null;
};

/** Where every chain is, by chain id. */
export type Position = {
  readonly startBlocks: ReadonlyMap<number, number>;
  readonly indexed: ReadonlyMap<number, number>;
  readonly heads: ReadonlyMap<number, number>;
};

/** The counters at a time in milliseconds. */
type Look = { readonly atMs: number; readonly doneBlocks: number; readonly events: number };

/** Rates are means over this time: long enough to be steady, short enough to follow. */
const WINDOW_MS = 30_000;

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

/** Turns looks at the counters into rates. */
export class Pace {
  #looks: Look[] = [];

  /** Adds a look and tells the pace since {@link WINDOW_MS} ago, or since the first look. */
  measure(atMs: number, blocks: { readonly total: number; readonly done: number }, events: number): Progress {
    this.#looks = [
      ...this.#looks.filter((look) => look.atMs >= atMs - WINDOW_MS),
      { atMs, doneBlocks: blocks.done, events },
    ];
    const [first] = this.#looks;
    const seconds = first === undefined ? 0 : (atMs - first.atMs) / 1_000;
    const perSec = (now: number, then: number) => (seconds > 0 ? Math.max(0, now - then) / seconds : 0);
    const blocksPerSec = perSec(blocks.done, first?.doneBlocks ?? 0);
    const left = blocks.total - blocks.done;
    return {
      totalBlocks: blocks.total,
      doneBlocks: blocks.done,
      events,
      eventsPerSec: Math.round(perSec(events, first?.events ?? 0)),
      secondsLeft: left === 0 ? 0 : blocksPerSec > 0 ? Math.ceil(left / blocksPerSec) : null,
    };
  }
}
