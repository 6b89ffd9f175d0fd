import { boolean, integer, numeric, pgSchema, primaryKey, text, uuid } from 'drizzle-orm/pg-core';
import { checkedAddress, instant, int8 } from './columns.ts';

const operator = pgSchema('operator');

/** A uint64. The upper half of its range does not fit into `bigint`. */
const uint64 = (name: string) => numeric(name, { precision: 20, scale: 0 });

/** Every quote update that was queued for builders. */
export const pammSubmissions = operator.table('pamm_submission', {
  submissionId: uuid('submission_id').primaryKey(),
  chainId: int8('chain_id').notNull(),
  receivedAt: instant('received_at', 3).notNull(),
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
    chainId: int8('chain_id').notNull(),
    receivedAt: instant('received_at', 3).notNull(),
    outcome: text('outcome', { enum: ['accepted', 'rejected', 'skipped', 'dropped', 'unanswered'] }).notNull(),
    error: text('error'),
    bundleHash: text('bundle_hash'),
    builderTimestampNs: uint64('builder_timestamp_ns'),
    answeredAt: instant('answered_at', 3).notNull(),
    latencyMs: integer('latency_ms').notNull(),
  },
  (table) => [primaryKey({ columns: [table.submissionId, table.provider] })],
);
