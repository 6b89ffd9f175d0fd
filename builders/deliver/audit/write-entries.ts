import { sql } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Database } from '../../../db/connection.ts';
import { pammAnswers, pammSubmissions } from '../../../db/schema/pamm-audit.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { AuditEntry } from '../../submit/audit-log.ts';

/** SQLSTATE classes of a row that Postgres will never take: data exception, constraint violation. */
const REFUSALS = ['22', '23'];

/**
 * Writes entries; those already written are left as they are. An entry that Postgres refuses is logged and left out: the
 * batch is halved until that entry stands alone.
 *
 * @throws Error of any other failure, after which some of the entries may be written
 */
export async function writeEntries(database: Database, entries: readonly AuditEntry[], logger: Logger): Promise<void> {
  try {
    await insertEntries(database, entries);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (entries.length === 1) return logger.error({ err: error, entry: entries[0] }, 'Postgres refused an audit entry');
    const middle = entries.length >>> 1;
    await writeEntries(database, entries.slice(0, middle), logger);
    await writeEntries(database, entries.slice(middle), logger);
  }
}

function isRefusal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ('code' in error && REFUSALS.includes(String(error.code).slice(0, 2))) || isRefusal(error.cause);
}

async function insertEntries(database: Database, entries: readonly AuditEntry[]): Promise<void> {
  await insertRows(
    database,
    pammSubmissions,
    entries.filter((entry) => entry.kind === 'submission').map(toSubmissionRow),
  );
  await insertRows(database, pammAnswers, entries.filter((entry) => entry.kind === 'answer').map(toAnswerRow));
}

/** One JSON parameter for all rows: thousands of single ones would hold up the event loop that updates are sent from. */
async function insertRows(database: Database, table: PgTable, rows: readonly object[]): Promise<void> {
  if (rows.length === 0) return;
  const records = sql`json_populate_recordset(NULL::${table}, ${JSON.stringify(rows)}::json)`;
  await database.execute(sql`INSERT INTO ${table} SELECT * FROM ${records} ON CONFLICT DO NOTHING`);
}

const instant = (ms: number) => new Date(ms).toISOString();

/** Columns of `operator.pamm_submission`. */
function toSubmissionRow(entry: Extract<AuditEntry, { kind: 'submission' }>) {
  return {
    submission_id: entry.submissionId,
    chain_id: entry.chainId,
    received_at: instant(entry.receivedAtMs),
    replacement_uuid: entry.replacementUuid,
    replacement_seq_number: entry.replacementSeqNumber,
    block_number: entry.blockNumber,
    max_timestamp: entry.maxTimestamp,
    is_cancel: entry.txHash === null,
    tx_hash: entry.txHash,
  };
}

/** Columns of `operator.pamm_answer`. */
function toAnswerRow(entry: Extract<AuditEntry, { kind: 'answer' }>) {
  return {
    submission_id: entry.submissionId,
    provider: entry.provider,
    chain_id: entry.chainId,
    received_at: instant(entry.receivedAtMs),
    outcome: entry.outcome,
    error: entry.error,
    bundle_hash: entry.bundleHash,
    builder_timestamp_ns: entry.builderTimestampNs,
    answered_at: instant(entry.answeredAtMs),
    latency_ms: Math.max(0, entry.answeredAtMs - entry.receivedAtMs),
  };
}
