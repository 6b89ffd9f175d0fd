import { z } from 'zod';
import { HexAddress } from '../../config/scalars.ts';

/** Unix milliseconds, within the range of dates. */
const Instant = z.number().min(-8.64e15).max(8.64e15);

const SubmissionEntry = z.object({
  kind: z.literal('submission'),
  submissionId: z.string(),
  chainId: z.number(),
  receivedAtMs: Instant,
  replacementUuid: z.string(),
  replacementSeqNumber: z.string(),
  blockNumber: z.string(),
  maxTimestamp: z.string().nullable(),
  /** Null for a cancel. */
  txHash: z.string().nullable(),
  /** Entries of earlier releases name no pools. */
  pools: z.array(HexAddress).default([]),
});

const AnswerEntry = z.object({
  kind: z.literal('answer'),
  submissionId: z.string(),
  chainId: z.number(),
  receivedAtMs: Instant,
  provider: z.string(),
  outcome: z.enum(['accepted', 'rejected', 'skipped', 'dropped', 'unanswered']),
  error: z.string().nullable(),
  bundleHash: z.string().nullable(),
  builderTimestampNs: z.string().nullable(),
  answeredAtMs: Instant,
});

const Entry = z.discriminatedUnion('kind', [SubmissionEntry, AnswerEntry]);

/** An entry of the audit stream, as its JSON. Integers above 2^53 are decimal strings. */
export type AuditEntry = z.output<typeof Entry>;

/** Reads an entry. Fields that only a newer release knows are left out. Null when it is malformed. */
export function readAuditEntry(json: string): AuditEntry | null {
  try {
    return Entry.parse(JSON.parse(json));
  } catch {
    return null;
  }
}
