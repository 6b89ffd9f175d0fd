import type { Action } from './action.ts';
import { apply } from './apply.ts';
import { Faults } from './faults.ts';
import { Findings, type Violation } from './findings.ts';
import { installTime } from './install-time.ts';
import type { Plan } from './plan.ts';
import { PriceAudit } from './price-audit.ts';
import { ProcessAudit } from './process-audit.ts';
import { Random } from './random.ts';
import { ReaderAudit } from './reader-audit.ts';
import { scriptOf } from './script.ts';
import { TakerAudit } from './taker-audit.ts';
import { VirtualTime } from './virtual-time.ts';
import { World } from './world.ts';

/** How a simulation ended. */
export interface Outcome {
  readonly violation: Violation | undefined;
  /** A number that all that readers got went into. */
  readonly digest: number;
  readonly events: number;
  readonly counts: Findings['counts'];
}

/** How often the auditor compares, and how often while nobody reads. */
const CHECK_MS = 250;
const AWAY_CHECK_MS = 1_000;
/** For how long prices that ended are compared. */
const REMEMBERED_MS = 60_000;

/** Runs a simulation to its end, or to its first violation. It depends on nothing but what it is given. */
export async function simulate(plan: Plan, script: readonly Action[] = scriptOf(plan)): Promise<Outcome> {
  const time = new VirtualTime();
  const uninstall = installTime(time, Random.of(plan.seed, 'processes'));
  const findings = new Findings(() => time.now);
  // Most errors of a simulation are expected ones: their traces cost more than all else.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    const faults = new Faults(time);
    const world = new World(plan, time, {
      onState: (reader) => readers.take(reader),
      onFrame: (reader, frame) => takers.take(reader, frame),
      onError: (text) => findings.found('error', text),
    });
    const prices = new PriceAudit(world, faults, findings);
    const readers = new ReaderAudit(world, faults, findings, prices);
    const takers = new TakerAudit(world, faults, findings, prices);
    const processes = new ProcessAudit(world, findings);
    await world.begin();
    for (const action of script) time.after(action.at, () => apply(world, action, faults), time.world);
    while (time.now < plan.durationMs && !findings.violation) {
      const isRead = [...world.readers, ...world.takers].some(({ isAway }) => !isAway);
      await time.pass(isRead ? CHECK_MS : AWAY_CHECK_MS);
      for (const audit of [readers, takers, processes]) audit.check();
      world.truth.forget(time.now - REMEMBERED_MS);
    }
  } finally {
    uninstall();
    Error.stackTraceLimit = stackTraceLimit;
  }
  const { violation, digest, counts } = findings;
  return { violation, digest, events: time.count, counts };
}
