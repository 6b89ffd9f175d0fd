import { z } from 'zod';
import { Name } from './scalars.ts';

/** An endpoint of a block builder. */
export const BuilderConfig = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9_-]*$/, 'a builder id has lowercase letters, digits, "-" and "_" only')
    .describe('Name in responses, queues and metrics: lowercase letters, digits, `-`, `_`.'),
  transport: z
    .enum(['quote-stream', 'bundle', 'relayer'])
    .describe(
      '`quote-stream` (WebSocket), `bundle` (HTTP `eth_sendBundle`) or, of `bsc` alone, `relayer` (BAP-710, `ws(s)` or `http(s)`).',
    ),
  url: z
    .url({ protocol: /^(wss?|https?)$/ })
    .describe('`ws(s)` or `http(s)` URL. Keys belong into `apiKeyEnv`: what may be one is hidden and warned of.'),
  apiKeyEnv: Name.optional().describe(
    'Environment variable with the key; while it is unset the builder is off. Without this field no key is sent.',
  ),
});

export const PammConfig = z
  .strictObject({
    kind: z.enum(['ethereum', 'bsc']).describe('Which rules hold for quote updates.'),
    builders: z.array(BuilderConfig).describe('Endpoints that updates go to.'),
  })
  .superRefine(({ kind, builders }, ctx) => {
    const relayer = builders.find(({ transport }) => transport === 'relayer');
    if (relayer && kind !== 'bsc') ctx.addIssue(`the relayer ${relayer.id} is for chains of kind bsc only`);
  })
  .describe('Quote updates to block builders; a chain without it refuses them.');

export type BuilderConfig = z.infer<typeof BuilderConfig>;
export type PammConfig = z.infer<typeof PammConfig>;
