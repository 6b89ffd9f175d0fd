/** How far a backfill is. */
export type Progress = {
  /** Blocks between the first ones and the chains' heads, of all chains. */
  readonly totalBlocks: number;
  readonly doneBlocks: number;
  /** Events written by this run. */
  readonly events: number;
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
export function countBlocks({ startBlocks, indexed, heads }: Position): Omit<Progress, 'events'> {
  let totalBlocks = 0;
  let doneBlocks = 0;
  for (const [chainId, start] of startBlocks) {
    const length = Math.max(0, (heads.get(chainId) ?? start) - start);
    totalBlocks += length;
    doneBlocks += Math.min(length, Math.max(0, (indexed.get(chainId) ?? start) - start));
  }
  return { totalBlocks, doneBlocks };
}

/** Shorter stops are not worth reporting. */
const MIN_WAIT_MS = 3_000;

/** Notes what a backfill needs, and whether it continues. Times are milliseconds of one clock. */
export class Standstill {
  #needed = 'Postgres';
  #place = '';
  #sinceMs: number;

  constructor(atMs: number) {
    this.#sinceMs = atMs;
  }

  /** Another need is another wait. */
  needs(needed: string, atMs: number): void {
    if (needed !== this.#needed) this.#sinceMs = atMs;
    this.#needed = needed;
  }

  note({ doneBlocks, events }: Progress, atMs: number): void {
    const place = `${doneBlocks} ${events}`;
    if (place !== this.#place) this.#sinceMs = atMs;
    this.#place = place;
  }

  /** Null while it continues, and for the first seconds after. */
  wait(atMs: number): Wait | null {
    const ms = atMs - this.#sinceMs;
    return ms < MIN_WAIT_MS ? null : { for: this.#needed, seconds: Math.floor(ms / 1_000) };
  }
}
