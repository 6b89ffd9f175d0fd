import { z } from 'zod';
import type { MockRelayer } from './mock-relayer.ts';

/** What a mock builder does with what it receives; chosen per endpoint at run time. */
export const Behaviour = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('ack') }),
  z.strictObject({ kind: z.literal('slow-ack'), delayMs: z.number().int().nonnegative() }),
  z.strictObject({ kind: z.literal('reject'), error: z.string().min(1) }),
  z.strictObject({ kind: z.literal('hanging') }),
  /** Answers this many messages of a connection and then closes it. */
  z.strictObject({ kind: z.literal('close-after'), messages: z.number().int().nonnegative() }),
  /** Answers with what is no response, or to each message of a socket twice. */
  z.strictObject({ kind: z.literal('garbage') }),
  z.strictObject({ kind: z.literal('ack-twice') }),
  /** HTTP 429, or for a stream a refused upgrade. */
  z.strictObject({ kind: z.literal('too-many-requests'), retryAfter: z.string().optional() }),
  z.strictObject({
    kind: z.literal('already-known'),
    code: z.number().int().default(-38000),
    message: z.string().default('bundle already exist'),
  }),
  z.strictObject({ kind: z.literal('http-status'), status: z.number().int().min(400).max(599) }),
]);

export type Behaviour = z.infer<typeof Behaviour>;

/** Takes each message as `ack` does, but answers once its test says so. */
export interface Held {
  readonly kind: 'held';
  readonly until: Promise<void>;
}

/** One message as a mock builder received it. Hex has 0x; integers are decimal strings. */
export type Received = {
  /** Unix nanoseconds, with the resolution of the process's clock. */
  readonly atNs: string;
  readonly tx: string;
  readonly blockNumber: string;
  /** Absent for bundles, which carry neither. */
  readonly replacementUuid?: string;
  readonly replacementSeqNumber?: string;
  /** The rest of the message, as received. */
  readonly message: Readonly<Record<string, unknown>>;
  /** Which connection of the builder brought it, counted from 1. */
  readonly connection: number;
};

const ORIGIN_US = performance.timeOrigin * 1_000;

/** Unix time in nanoseconds, comparable between processes of one machine. */
export function nowNs(): bigint {
  return BigInt(Math.round(ORIGIN_US + performance.now() * 1_000)) * 1_000n;
}

/** What an endpoint's two halves share: how to behave, and what came in. */
export type MockState = {
  behaviour: Behaviour | Held;
  readonly received: Received[];
  /** What the relayer knows. */
  readonly relayer: MockRelayer;
  /** Keys seen: `Authorization` headers, of the relayer `x-api-key`; oldest first. */
  readonly authorizations: (string | undefined)[];
  /** Connections of sockets accepted, and refused. */
  connections: number;
  refusals: number;
  record: boolean;
};
