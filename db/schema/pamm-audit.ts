import { bigint, boolean, integer, numeric, pgSchema, primaryKey, text, timestamp, uuid } from 'drizzle-orm/pg-core';
import { checkedAddress } from './columns.ts';

const operator = pgSchema('operator');

const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3 });
/** A uint64. The upper half of its range does not fit into `bigint`. */
const uint64 = (name: string) => numeric(name, { precision: 20, scale: 0 });

/** Every quote update that was queued for builders. */
export const pammSubmissions = operator.table('pamm_submission', {
  submissionId: uuid('submission_id').primaryKey(),
  chainId: bigint('chain_id', { mode: 'number' }).notNull(),
  receivedAt: instant('received_at').notNull(),
  replacementUuid: text('replacement_uuid').notNull(),
  replacementSeqNumber: uint64('replacement_seq_number').notNull(),
  blockNumber: uint64('block_number').notNull(),
  maxTimestamp: uint64('max_timestamp'),
  isCancel: boolean('is_cancel').notNull(),
  txHash: text('tx_hash'),
  pools: checkedAddress('pools').array().notNull().default([]),
  hasLanded: boolean('has_landed'),
});

/** The outcome of each update at each builder. */
export const pammAnswers = operator.table(
  'pamm_answer',
  {
    submissionId: uuid('submission_id').notNull(),
    provider: text('provider').notNull(),
    chainId: bigint('chain_id', { mode: 'number' }).notNull(),
    receivedAt: instant('received_at').notNull(),
    outcome: text('outcome', { enum: ['accepted', 'rejected', 'skipped', 'dropped', 'unanswered'] }).notNull(),
    error: text('error'),
    bundleHash: text('bundle_hash'),
    builderTimestampNs: uint64('builder_timestamp_ns'),
    answeredAt: instant('answered_at').notNull(),
    latencyMs: integer('latency_ms').notNull(),
  },
  (table) => [primaryKey({ columns: [table.submissionId, table.provider] })],
);
