import type { Database } from '../../../db/connection.ts';
import { pammAnswers, pammSubmissions } from '../../../db/schema/pamm-audit.ts';
import { insertRows } from '../../../db/write-rows.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { AuditEntry } from '../../submit/update-log.ts';

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
    database.$client,
    pammSubmissions,
    entries.filter((entry) => entry.kind === 'submission').map(toSubmissionRow),
  );
  await insertRows(database.$client, pammAnswers, entries.filter((entry) => entry.kind === 'answer').map(toAnswerRow));
}

function toSubmissionRow({ kind: _, receivedAtMs, ...entry }: Extract<AuditEntry, { kind: 'submission' }>) {
  return { ...entry, receivedAt: new Date(receivedAtMs), isCancel: entry.txHash === null };
}

function toAnswerRow({ kind: _, receivedAtMs, answeredAtMs, ...entry }: Extract<AuditEntry, { kind: 'answer' }>) {
  const latencyMs = Math.max(0, answeredAtMs - receivedAtMs);
  return { ...entry, receivedAt: new Date(receivedAtMs), answeredAt: new Date(answeredAtMs), latencyMs };
}
