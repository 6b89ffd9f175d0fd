import { z } from '@hono/zod-openapi';
import { BASES } from '../../quoting/quote-basis.ts';
import { documented } from './documented.ts';

const Basis = z.enum(BASES);
const BASIS =
  'Where a chain has live prices: `live` quotes the block that is being built, `committed` the last one of the chain.';
const Include = z.enum(['stateOverride']);
const INCLUDE = '`stateOverride` adds `overrides`.';

/** Parameters of a query. */
export const basisQuery = { basis: Basis.default('live').openapi({ example: 'live', description: BASIS }) };
export const includeQuery = {
  include: Include.optional().openapi({ example: 'stateOverride', description: INCLUDE }),
};

/** The same as fields of a body; null acts as absent. */
export const basisFields = {
  basis: Basis.nullish().openapi({ default: 'live', description: BASIS }),
  include: Include.nullish().openapi({ description: INCLUDE }),
};

const QuoteBasis = documented('QuoteBasis', 'What a quote holds for; on chains with live prices.', {
  kind: Basis.describe('`live`: in the block that is being built. `committed`: at the last block.'),
  blockNumber: z.int().describe('The committed block.'),
  targetBlockNumber: z.int().nullable().describe('The block that is being built; null when committed.'),
  targetTimestamp: z.int().nullable().describe('Its time, Unix seconds.'),
  sourceAgeMs: z.int().nullable().describe('Age of the live prices when they were read, milliseconds.'),
  sources: z
    .array(z.string())
    .readonly()
    .nullable()
    .describe('Which sources then held the same prices, by name; null when committed, or while it is not known.'),
  source: documented(
    'PartSource',
    'The part of the block that a quote holds after; on chains whose nodes follow parts.',
    {
      kind: z.literal('preconfirmed').describe('Of nodes that follow the parts of blocks.'),
      part: z.int().nullable().describe('Counts the parts of the block from 0; null where it is not known.'),
    },
  ).optional(),
});

const Overrides = documented(
  'Overrides',
  'What an `eth_call` at the committed block needs to see what live quotes saw. With `include`; null when none is live.',
  {
    blockOverrides: z
      .strictObject({ number: z.string().describe('Block number, hex.'), time: z.string().describe('Its time, hex.') })
      .describe('Fourth parameter of `eth_call`.'),
    stateOverride: z
      .record(
        z.string(),
        z.strictObject({ stateDiff: z.record(z.string(), z.string()).describe('Words by storage slot.') }),
      )
      .describe('Third parameter of `eth_call`: storage by account.'),
  },
);

/** Additional fields of what is quoted: on chains with live prices, and with `include`. */
export const quotedFields = {
  basis: QuoteBasis.optional(),
  overrides: Overrides.nullable().optional(),
};
