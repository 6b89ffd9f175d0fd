import fc from 'fast-check';
import { PROPERTY_SEED } from './property-seed.ts';

const MAX_SEEDS = 30;

/**
 * Tries a property with further seeds, too, until what it drew covers what the test is about: some seeds lack a kind.
 * @throws What the property finds, or that no seed draws enough
 */
export async function assertUntil<T>(
  hasSeenEnough: () => boolean,
  property: fc.IRawProperty<T>,
  parameters: Omit<fc.Parameters<T>, 'seed'> = {},
): Promise<void> {
  for (let seed = PROPERTY_SEED; seed < PROPERTY_SEED + MAX_SEEDS; seed += 1) {
    await fc.assert(property, { ...parameters, seed });
    if (hasSeenEnough()) return;
  }
  throw new Error(`${MAX_SEEDS} seeds drew too little of what the test is about`);
}
