import { z } from 'zod';
import { PositiveInt } from './scalars.ts';

/** The smallest budget of which a tenth still leaves a call to save. */
const MIN_CALLS = 20;

/**
 * What capture's scheduled reads of one chain may cost its nodes.
 * The defaults fit a free node and a thousand funded pools.
 */
export const ReadBudgetConfig = z.strictObject({
  callsPerMinute: z.int().min(MIN_CALLS).default(240).describe('Requests to the nodes of the chain; at least 20.'),
  minFundedUsd: z
    .number()
    .positive()
    .default(1)
    .describe('A pool is funded that holds at least this in priced tokens.'),
  auditCallsPerMinute: z
    .int()
    .min(MIN_CALLS)
    .default(30)
    .describe(
      'Requests that compare the index with the chain ([audit](operate.md#audit-of-the-index)), besides; at least 20. By default 5,000 pools take ten minutes.',
    ),
});

/** What reading requested pools at each new block may cost the nodes of one chain, for each API process. */
export const WarmBudgetConfig = z.strictObject({
  callsPerMinute: PositiveInt.default(1_500).describe(
    'Requests to the nodes, of each basis; below 120 the costliest pools may never be read ahead. Pools that no key requests have a fifth of it. The default is 25 a second, as free nodes allow.',
  ),
});

export type WarmBudgetConfig = z.infer<typeof WarmBudgetConfig>;

export type ReadBudgetConfig = z.infer<typeof ReadBudgetConfig>;
