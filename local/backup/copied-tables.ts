import { loadStatement } from '../../db/load-statement.ts';
import type { Queryable } from '../../db/transaction.ts';
import type { BackupHeader } from './backup-format.ts';

export interface CopiedTable {
  /** With its schema, quoted. */
  readonly name: string;
  readonly columns: string;
  /** Whether migrations make it; the indexer makes the others. */
  readonly isMigrated: boolean;
  /** A statement that makes a partition; null for whole tables. */
  readonly partition: string | null;
}

/** The tables whose rows a backup has. */
export const copiedTables = loadStatement<CopiedTable>('./copied-tables.sql', import.meta.url);

/** What made the tables that migrations make. */
export async function ranMigrations(database: Queryable): Promise<BackupHeader['migrations']> {
  return (await database.query('SELECT name, checksum FROM operator.migration ORDER BY name')).rows;
}
