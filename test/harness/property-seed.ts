import { relative } from 'node:path';
import { expect } from 'vitest';

const named = process.env.PROPERTY_SEED ?? '20261121';

/**
 * Seed of all that tests draw at random: the same in every run, so that a failure can be repeated.
 * `PROPERTY_SEED=random` takes another one, `PROPERTY_SEED=<number>` that one.
 */
export const PROPERTY_SEED = named === 'random' ? Date.now() % 2 ** 31 : Number(named);
if (!Number.isInteger(PROPERTY_SEED)) throw new Error(`PROPERTY_SEED is not a number: ${named}`);

const factor = Number(process.env.PROPERTY_RUNS ?? 1);

/** How often a property is tried: `count` times in `npm test`, a multiple in soak runs, which set `PROPERTY_RUNS`. */
export const runs = (count: number): number => count * factor;

/** The command that runs the current test file again with the same seed. */
export function repeatCommand(): string {
  const path = relative(process.cwd(), expect.getState().testPath ?? '');
  return `PROPERTY_SEED=${PROPERTY_SEED} npx vitest run ${path}`;
}
