import { z } from 'zod';
import { PositiveInt } from './scalars.ts';

export const StreamConfig = z.strictObject({
  connections: PositiveInt.default(5_000).describe('Connections of an API process; further ones get 503.'),
  connectionsPerAddress: PositiveInt.default(20).describe(
    'Connections without a key per client address; further ones get 429.',
  ),
});

export type StreamConfig = z.infer<typeof StreamConfig>;
