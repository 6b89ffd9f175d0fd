import { z } from 'zod';

const count = z.int().positive();

/** How many connections of streams (SSE and WebSocket alike) one process takes. The values are not shown to clients. */
export const StreamConfig = z.strictObject({
  /** Connections of the process; further ones get 503. */
  connections: count.default(5_000),
  /** Connections without a key per client address; further ones get 429. */
  connectionsPerAddress: count.default(20),
  /** Connections per Trading API key; further ones get 429. */
  connectionsPerKey: count.default(200),
  /** Most listed pools of a chain that a connection with a key may ask for without naming them. */
  maxPoolsUnnamed: count.default(2_000),
});

export type StreamConfig = z.infer<typeof StreamConfig>;
