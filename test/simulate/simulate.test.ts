import { expect, test } from 'vitest';
import { runs } from '../harness/property-seed.ts';
import { type Plan, planOf } from './plan.ts';
import { scriptOf } from './script.ts';
import { describeFinding, shrink } from './shrink.ts';
import { simulate } from './simulation.ts';

/* Short simulations of small worlds. `npm run test:simulate` has longer and larger ones. */

const SEEDS = 200;
const DURATION_MS = 6_000;

const smallPlan = (seed: number): Plan => ({
  ...planOf(seed, DURATION_MS),
  processes: 2,
  nodes: 1,
  pools: 3,
  readers: 2,
  takers: 1,
});

test('the same seed gives the same', async () => {
  const plan = planOf(3, 20_000);
  const [one, other] = [await simulate(plan), await simulate(plan)];
  expect(one).toEqual(other);
  expect(one.digest).not.toBe((await simulate(planOf(4, 20_000))).digest);
});

test('whatever goes wrong, readers hold nothing for long that is not true', async () => {
  const counts = { states: 0, live: 0, frames: 0 };
  for (let seed = 1; seed <= runs(SEEDS); seed += 1) {
    const plan = smallPlan(seed);
    const { violation, ...outcome } = await simulate(plan);
    const finding = violation && describeFinding(plan, await shrink(plan, scriptOf(plan), violation));
    expect(finding).toBeUndefined();
    for (const name of ['states', 'live', 'frames'] as const) counts[name] += outcome.counts[name];
  }
  expect(Math.min(counts.states, counts.live, counts.frames)).toBeGreaterThan(1_000);
}, 240_000);
