import type { Action } from './action.ts';
import type { Violation } from './findings.ts';
import type { Plan } from './plan.ts';
import { simulate } from './simulation.ts';

/** A violation, and what happened before. */
export interface Finding {
  readonly script: readonly Action[];
  readonly violation: Violation;
}

/** Most simulations to find a shorter script. */
const MAX_RUNS = 60;

/**
 * Leaves out of a script what is not needed for a violation of the same rule: halves, then quarters, and so on.
 *
 * @returns the shortest one that was found
 */
export async function shrink(plan: Plan, script: readonly Action[], violation: Violation): Promise<Finding> {
  let best: Finding = { violation, script: script.filter(({ at }) => at <= violation.at) };
  let runs = 0;
  for (
    let size = Math.ceil(best.script.length / 2);
    size >= 1 && runs < MAX_RUNS;
    size = size > 1 ? Math.ceil(size / 2) : 0
  ) {
    for (let from = 0; from < best.script.length && runs < MAX_RUNS; ) {
      const shorter = best.script.filter((_, index) => index < from || index >= from + size);
      runs += 1;
      const outcome = await simulate(plan, shorter);
      if (outcome.violation?.rule === violation.rule) best = { script: shorter, violation: outcome.violation };
      else from += size;
    }
  }
  return best;
}

/** What was violated, what happened before, and how to run it again. */
export function describeFinding(plan: Plan, { script, violation }: Finding): string {
  const { seed, durationMs, ...world } = plan;
  const lines = script.map(({ at, do: what, ...rest }) => `  ${at} ms: ${what} ${JSON.stringify(rest)}`);
  return [
    `seed ${seed}: ${violation.rule} at ${violation.at} ms: ${violation.text}`,
    `  world: ${JSON.stringify(world)}`,
    ...lines,
    `run again: npm run test:simulate -- --seed ${seed} --seconds ${durationMs / 1_000}`,
    '',
  ].join('\n');
}
