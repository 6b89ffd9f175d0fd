import type { Fault } from './action.ts';
import type { Plan } from './plan.ts';
import type { Random } from './random.ts';

/** The number of the sources that send frames; the last pool has published updates instead. */
export const SOURCES = 2;
/** How far clocks of processes are from true time at most. */
export const MAX_SKEW_MS = 2_000;

/** What makers and readers do at times. */
export function usual({ pools, readers, takers, processes }: Plan, random: Random) {
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

/** Something that goes wrong. @param ms for how long */
export function fault({ pools, processes, nodes, blockTimeMs }: Plan, random: Random, ms: number): Fault {
  const process = random.int(0, processes - 1);
  const source = random.chance(0.4) ? 'all' : random.int(0, SOURCES - 1);
  const makers: readonly (() => Fault)[] = [
    () => ({ do: 'lie', pool: random.int(0, pools - 2), ms }),
    () => ({ do: 'silence', source, ms }),
    () => ({ do: 'silence', source: random.int(0, SOURCES - 1), ms }),
    () => ({ do: 'leap', source, by: random.pick([1, 1, 2, 50, -1]), ms }),
    () => ({ do: 'stop', process, ms }),
    () => ({ do: 'kill', process, ms, skewMs: random.int(-MAX_SKEW_MS, MAX_SKEW_MS), isSilent: random.chance(0.3) }),
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
