import { Random } from './random.ts';

/** How large a world is. */
export interface Plan {
  readonly seed: number;
  readonly blockTimeMs: number;
  readonly processes: number;
  readonly nodes: number;
  readonly pools: number;
  readonly readers: number;
  readonly takers: number;
  /** Of scheduled reads of each process and basis: too few for all, or enough. */
  readonly callsPerMinute: number;
  /** How long overrides are used after a source last sent them; null: the default. */
  readonly maxAgeMs: number | null;
  readonly durationMs: number;
}

export const FEW_CALLS = 100;
export const ENOUGH_CALLS = 6_000;

export function planOf(seed: number, durationMs: number): Plan {
  const random = Random.of(seed, 'plan');
  const callsPerMinute = random.pick([FEW_CALLS, ENOUGH_CALLS, ENOUGH_CALLS, ENOUGH_CALLS]);
  return {
    seed,
    durationMs,
    callsPerMinute,
    blockTimeMs: random.pick(callsPerMinute === FEW_CALLS ? [1_000, 2_000] : [1_000, 2_000, 4_000, 12_000]),
    processes: random.pick([2, 2, 3, 3, 5]),
    nodes: random.int(1, 3),
    pools: random.int(3, 5),
    readers: random.int(2, 4),
    takers: random.int(1, 3),
    maxAgeMs: random.pick([null, 1_000]),
  };
}
