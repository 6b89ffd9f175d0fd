import type { Action } from './action.ts';
import { fault, usual } from './draw-action.ts';
import { FEW_CALLS, type Plan } from './plan.ts';
import { quietActions } from './quiet-script.ts';
import { Random } from './random.ts';

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
/** Busy times between quiet ones: what begins in them may go on a while after. */
const BETWEEN: Rhythm = {
  calmMs: [1_000, 8_000],
  faultyMs: [2_000, 10_000],
  quietMs: [1_000, 8_000],
  outages: 0.2,
  outageMs: [5_000, 30_000],
  endMs: -5_000,
};
/** Share of the times at which prices end that are followed by a quiet time. */
const QUIET = 0.5;
/** From this duration on it is long. */
const LONG_MS = 50_000;

/** From this duration on quiet times lie between busy ones. */
const MARKET_MS = 600_000;
/** Most are a few seconds long, some a minute. */
const BUSY_MS = [2_000, 4_000, 8_000, 8_000, 12_000, 60_000] as const;
const QUIET_MS = [200_000, 2_200_000] as const;
/** For this long before the end nothing happens, and all readers are there. */
const LAST_MS = 40_000;

/** What happens, in the order of time, the same for the same plan. */
export function scriptOf(plan: Plan): readonly Action[] {
  const { durationMs } = plan;
  const random = Random.of(plan.seed, 'script');
  const actions: Action[] = [];
  if (durationMs < MARKET_MS)
    actions.push(...busyActions(plan, random, 0, durationMs, durationMs < LONG_MS ? SHORT : LONG));
  else
    for (let at = 0; at < durationMs - LAST_MS; ) {
      const busyTo = at + Math.round(random.pick(BUSY_MS) * (0.5 + random.next() / 2));
      const quietTo = Math.min(busyTo + random.int(...QUIET_MS), durationMs - LAST_MS);
      actions.push(...busyActions(plan, random, at, Math.min(busyTo, quietTo), BETWEEN));
      actions.push(...quietActions(plan, random, busyTo, quietTo));
      at = quietTo;
    }
  return actions.toSorted((one, other) => one.at - other.at);
}

/** What happens within a time in which a lot does. */
function busyActions(plan: Plan, random: Random, from: number, to: number, rhythm: Rhythm): Action[] {
  const { calmMs, faultyMs, quietMs, outages, outageMs, endMs } = rhythm;
  const actions: Action[] = [];
  // Turns take long.
  const calmFactor = plan.callsPerMinute === FEW_CALLS ? 2 : 1;
  // Each minute is quieter or busier than others.
  for (let at = from, meanMs = 600; at < to; at += 1 + random.int(0, 2 * meanMs)) {
    if (random.chance(0.02)) meanMs = random.pick([200, 600, 2_000, 6_000]);
    const action = { at, ...usual(plan, random) };
    actions.push(action);
    const isEnd = action.do === 'hush' || action.do === 'flash';
    if (isEnd && random.chance(QUIET)) at += random.int(...quietMs);
  }
  for (let at = from + random.int(...calmMs); ; at += calmFactor * random.int(...calmMs)) {
    const isOutage = random.chance(outages);
    const end = Math.min(at + random.int(...(isOutage ? outageMs : faultyMs)), to - endMs);
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
  return actions;
}
