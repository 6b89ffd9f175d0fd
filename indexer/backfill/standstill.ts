import { chainKey } from '../deployments.ts';
import type { BuildMetrics } from './build-metrics.ts';
import type { Position } from './pace.ts';

/** What a backfill waits for, in words that follow "waiting for", and for how many whole seconds it has. */
export type Wait = { readonly for: string; readonly seconds: number };

/** Shorter stops are not worth a word. */
const MIN_WAIT_MS = 3_000;

/** Notes what a backfill needs, and whether it gets on. Times are milliseconds of one clock. */
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

  /** Where the bar and the count of events stand. */
  note({ doneBlocks, events }: { readonly doneBlocks: number; readonly events: number }, atMs: number): void {
    const place = `${doneBlocks} ${events}`;
    if (place !== this.#place) this.#sinceMs = atMs;
    this.#place = place;
  }

  /** Null while it gets on, and for the first seconds after. */
  wait(atMs: number): Wait | null {
    const ms = atMs - this.#sinceMs;
    return ms < MIN_WAIT_MS ? null : { for: this.#needed, seconds: Math.floor(ms / 1_000) };
  }
}

/** How far a build is. */
export type BuildState = Position & {
  readonly schema: string;
  /** Whether a process that wrote the schema before still does. */
  readonly isTaken: boolean;
  /** Null until the indexer answers. */
  readonly metrics: BuildMetrics | null;
  /** Whether it follows the heads of the chains, all final blocks being written. */
  readonly isFollowing: boolean;
};

/** What a build needs to get on. */
export function neededBy({ schema, isTaken, metrics, isFollowing, startBlocks, indexed, heads }: BuildState): string {
  const chainIds = [...startBlocks.keys()];
  if (isFollowing) {
    const behind = chainIds.filter((id) => (indexed.get(id) ?? -1) < (heads.get(id) ?? 0));
    return `the newest blocks of ${namesOf(behind)} from its nodes`;
  }
  if (isTaken) return `another process to end that writes "${schema}"`;
  if (metrics === null || metrics.fetching === null) return 'the indexer to start';
  const fetching = chainIds.filter((id) => metrics.fetching?.includes(chainKey(id)));
  if (fetching.length > 0) return `logs of ${namesOf(fetching)} from its nodes`;
  return metrics.isWritten ? 'Postgres to build the indexes of the tables' : 'the indexer to write what it fetched';
}

const namesOf = (chainIds: readonly number[]): string => `chain ${chainIds.join(', ')}`;
