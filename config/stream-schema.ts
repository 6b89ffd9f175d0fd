import { z } from 'zod';

const count = z.int().positive();

/** How much of the streams (SSE and WebSocket alike) one process serves at once. The values are not shown to clients. */
export const StreamConfig = z.strictObject({
  /** Connections of the process; further ones get 503. */
  connections: count.default(5_000),
  /** Connections without a key per client address; further ones get 429. */
  connectionsPerAddress: count.default(20),
  /** Connections per Trading API key; further ones get 429. */
  connectionsPerKey: count.default(200),
  /** Most pools that a connection names. */
  poolsPerConnection: count.default(500),
  /** Most listed pools of a chain that a connection with a key may ask for without naming them. */
  maxPoolsUnnamed: count.default(2_000),
  /** A connection is sent no more while so much is unsent, and is cut when that lasts too long. */
  maxUnsentBytes: count.default(256 * 1024),
  maxUnsentSecs: count.default(10),
  /** Blocks of a chain after which a connection can go on where an earlier one ended. */
  historyBlocks: count.default(256),
  /** Operations of a WebSocket per second, and pools in its subscriptions per minute; further ones are refused with 429. */
  operationsPerSec: count.default(10),
  newPoolsPerMinute: count.default(1_000),
  /** Pause between two looks at whether the keys of open connections are still valid. */
  keyCheckSecs: count.default(60),
});

export type StreamConfig = z.infer<typeof StreamConfig>;
