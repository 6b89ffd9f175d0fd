import type { Action, Fault } from './action.ts';
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

/** The number of the sources that send frames; the last pool has published updates instead. */
export const SOURCES = 2;
interface Rhythm {
  /** Least and most time without and with faults, in turns. */
  readonly calmMs: readonly [number, number];
  readonly faultyMs: readonly [number, number];
  /** Least and most time without any action after prices ended. */
  readonly quietMs: readonly [number, number];
  /** Share of outages of all nodes among faulty times, and how long they take. */
  readonly outages: number;
  readonly outageMs: readonly [number, number];
  /** For this long before its end nothing goes wrong. */
  readonly endMs: number;
}
const LONG: Rhythm = {
  calmMs: [12_000, 40_000],
  faultyMs: [3_000, 15_000],
  quietMs: [3_000, 15_000],
  outages: 0.2,
  outageMs: [15_000, 45_000],
  endMs: 25_000,
};
const SHORT: Rhythm = {
  calmMs: [500, 4_000],
  faultyMs: [1_000, 4_000],
  quietMs: [1_000, 3_000],
  outages: 0,
  outageMs: [0, 0],
  endMs: 2_500,
};
/** Share of the times at which prices end that are followed by a quiet time. */
const QUIET = 0.5;
/** From this duration on it is long. */
const LONG_MS = 50_000;

const FEW_CALLS = 100;
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

/** What happens, in the order of time, the same for the same plan. */
export function scriptOf(plan: Plan): readonly Action[] {
  const { durationMs, callsPerMinute } = plan;
  const random = Random.of(plan.seed, 'script');
  const actions: Action[] = [];
  const { calmMs, faultyMs, quietMs, outages, outageMs, endMs } = durationMs < LONG_MS ? SHORT : LONG;
  // Turns take long.
  const calmFactor = callsPerMinute === FEW_CALLS ? 2 : 1;
  // Each minute is quieter or busier than others.
  for (let at = 0, meanMs = 600; at < durationMs; at += 1 + random.int(0, 2 * meanMs)) {
    if (random.chance(0.02)) meanMs = random.pick([200, 600, 2_000, 6_000]);
    const action = { at, ...usual(plan, random) };
    actions.push(action);
    const isEnd = action.do === 'hush' || action.do === 'flash';
    if (isEnd && random.chance(QUIET)) at += random.int(...quietMs);
  }
  for (let at = random.int(...calmMs); ; at += calmFactor * random.int(...calmMs)) {
    const isOutage = random.chance(outages);
    const end = Math.min(at + random.int(...(isOutage ? outageMs : faultyMs)), durationMs - endMs);
    if (at >= end) break;
    if (isOutage) {
      const becomes = random.pick(['down', 'hangs', 'blind', 'blind'] as const);
      actions.push({ at, do: 'node', node: 'all', becomes, ms: end - at });
    }
    for (let faults = random.int(1, 4); faults > 0; faults -= 1) {
      const from = random.int(at, end - 1);
      actions.push({ at: from, ...fault(plan, random, Math.max(100, Math.min(end - from, random.int(200, 12_000)))) });
    }
    at = end;
  }
  return actions.toSorted((one, other) => one.at - other.at);
}

function usual({ pools, readers, takers, processes }: Plan, random: Random) {
  const priced = random.int(0, pools - 2);
  const roll = random.next();
  if (roll < 0.43) return { do: 'price', pool: priced } as const;
  if (roll < 0.53) return { do: 'cancel', pool: priced } as const;
  if (roll < 0.58) return { do: 'hush' } as const;
  if (roll < 0.67) return { do: 'trade', pools: [random.int(0, pools - 1)] } as const;
  if (roll < 0.74) return { do: 'publish', blocks: random.int(1, 4) } as const;
  if (roll < 0.77) return { do: 'unpublish' } as const;
  const to = random.int(0, processes - 1);
  const mover = random.int(0, readers - 1);
  if (roll < 0.84) return { do: 'move', reader: mover, to, isSilent: random.chance(0.15) } as const;
  if (roll < 0.9) {
    const isLost = random.chance(0.5);
    return { do: 'flash', pool: priced, ms: random.int(50, 500), reader: mover, to, isLost } as const;
  }
  const reader = random.int(0, takers - 1);
  if (roll < 0.96) return { do: 'take', reader, to } as const;
  return { do: 'slow', reader, ms: random.int(500, 20_000) } as const;
}

function fault({ pools, processes, nodes, blockTimeMs }: Plan, random: Random, ms: number): Fault {
  const process = random.int(0, processes - 1);
  const source = random.chance(0.4) ? 'all' : random.int(0, SOURCES - 1);
  const makers: readonly (() => Fault)[] = [
    () => ({ do: 'lie', pool: random.int(0, pools - 2), ms }),
    () => ({ do: 'silence', source, ms }),
    () => ({ do: 'silence', source: random.int(0, SOURCES - 1), ms }),
    () => ({ do: 'leap', source, by: random.pick([1, 1, 2, 50, -1]), ms }),
    () => ({ do: 'stop', process, ms }),
    () => ({ do: 'kill', process, ms, skewMs: random.int(-2_000, 2_000), isSilent: random.chance(0.3) }),
    () => ({
      do: 'node',
      node: random.chance(0.5) ? 'all' : random.int(0, nodes - 1),
      becomes: random.pick(['down', 'slow', 'hangs', 'blind'] as const),
      ms,
    }),
    () => ({ do: 'lag', node: random.int(0, nodes - 1), lagMs: random.int(200, 2 * blockTimeMs), ms }),
    () => ({ do: 'redis', becomes: random.pick(['down', 'hangs'] as const), isForgotten: random.chance(0.3), ms }),
    () => ({
      do: 'weather',
      lost: random.pick([0, 0.1, 0.5, 1]),
      twice: 0.2,
      lateMs: random.pick([0, 100, 1_500]),
      ms,
    }),
    () => ({ do: 'reorganise', depth: random.int(1, 4), others: random.int(1, 5), ms: 100 }),
    () => ({ do: 'empty', process, ms }),
  ];
  return random.pick(makers)();
}
