import { maxQuoteAgeMs } from '../../config/quotes-schema.ts';
import type { Action } from './action.ts';
import { fault, MAX_SKEW_MS, usual } from './draw-action.ts';
import type { Plan } from './plan.ts';
import type { Random } from './random.ts';
import { QUOTES } from './world-config.ts';

/** Processes and most readers leave within this time of the beginning of a quiet time. */
const EDGE_MS = 4_000;
/** How long before its end a process is suspended at most, others start, and readers come back: then all is well. */
const RESUMED_MS = 60_000;
const SCALED_MS = [9_000, 20_000] as const;
const BACK_MS = 8_000;
/** Mean time between two actions of makers and readers. */
const USUAL_MS = 150_000;
/** How long a reader that stays does so at most, and how long a visit takes. */
const STAY_MS = 60_000;
const VISIT_MS = [2_000, 25_000] as const;
const MAX_FAULT_MS = 60_000;
/** Shares of readers that stay for a while, and of those that visit. */
const STAYING = 0.15;
const VISITING = 0.1;
/** Share of the processes that do not end, besides the one that stays. */
const SPARED = 0.05;
/** Share of the quiet times in most of which the one that stays stands still, as its machine is suspended. */
const SUSPENDED = 0.6;

/**
 * What happens within minutes in which next to nothing does: blocks are slow or halt, sources are silent or repeat
 * themselves, processes and readers leave. What goes wrong does so at the edges rather than between them.
 */
export function quietActions(plan: Plan, random: Random, from: number, to: number): Action[] {
  if (to - from < SCALED_MS[1] + EDGE_MS) return [];
  const maxAgeMs = maxQuoteAgeMs(QUOTES, plan.blockTimeMs);
  const pace = random.pick([0.3, 0.8, 1.5, 5, null]);
  const blockMs = pace === null ? null : pace * maxAgeMs;
  const repeatMs = random.pick([null, null, 5_000, 60_000]);
  const actions: Action[] = [
    { at: from, do: 'rest', blockMs, repeatMs, ms: to - from },
    { at: from, do: 'unpublish' },
    ...leavingReaders(plan, random, from, to),
    ...leavingProcesses(plan, random, from, to),
  ];
  for (let at = from + random.int(0, 2 * USUAL_MS); at < to; at += random.int(0, 2 * USUAL_MS))
    actions.push({ at, ...usual(plan, random) });
  for (const end of [from, to]) {
    if (random.chance(0.4)) actions.push({ at: end + random.int(-500, 500), do: 'hush' });
    if (!random.chance(0.4)) continue;
    actions.push({ at: end + random.int(-2_000, 500), ...fault(plan, random, random.int(100, 5_000)) });
  }
  if (random.chance(0.7))
    actions.push({ at: random.int(from, to), ...fault(plan, random, random.int(1_000, MAX_FAULT_MS)) });
  return actions;
}

function leavingReaders({ readers, takers }: Plan, random: Random, from: number, to: number): Action[] {
  const all = [
    ...Array.from({ length: readers }, (_, reader) => ({ who: 'readers', reader }) as const),
    ...Array.from({ length: takers }, (_, reader) => ({ who: 'takers', reader }) as const),
  ];
  return all.flatMap((one) => {
    const at = from + random.int(0, random.chance(STAYING) ? STAY_MS : EDGE_MS);
    const spans = awayBetween(at, to - random.int(0, BACK_MS), random);
    return spans.map((span): Action => ({ ...span, do: 'away', ...one }));
  });
}

/** One process stays, though it may stand still. */
function leavingProcesses({ processes }: Plan, random: Random, from: number, to: number): Action[] {
  const kept = random.int(0, processes - 1);
  const actions: Action[] = [];
  if (random.chance(SUSPENDED)) {
    const at = from + random.int(EDGE_MS, STAY_MS);
    const ms = to - random.int(SCALED_MS[1], RESUMED_MS) - at;
    if (ms > 0) actions.push({ at, do: 'stop', process: kept, ms });
  }
  for (let process = 0; process < processes; process += 1) {
    if (process === kept || random.chance(SPARED)) continue;
    const at = from + random.int(0, EDGE_MS);
    const ms = to - random.int(...SCALED_MS) - at;
    actions.push({ at, do: 'scale', process, ms, skewMs: random.int(-MAX_SKEW_MS, MAX_SKEW_MS) });
  }
  return actions;
}

/** The times in which a reader is away: one, or two around a visit. */
function awayBetween(from: number, to: number, random: Random): { readonly at: number; readonly ms: number }[] {
  const visitMs = random.int(...VISIT_MS);
  if (!random.chance(VISITING) || to - from < 2 * visitMs) return to > from ? [{ at: from, ms: to - from }] : [];
  const visitAt = random.int(from + 1, to - visitMs - 1);
  const backAt = visitAt + visitMs;
  return [
    { at: from, ms: visitAt - from },
    { at: backAt, ms: to - backAt },
  ];
}
