import { z } from 'zod';

const count = z.int().positive();

export const StreamConfig = z.strictObject({
  connections: count.default(5_000).describe('Connections of an API process; further ones get 503.'),
  connectionsPerAddress: count
    .default(20)
    .describe('Connections without a key per client address; further ones get 429.'),
});

export type StreamConfig = z.infer<typeof StreamConfig>;
