import { z } from 'zod';

/*
 * A backup is SQL as psql reads it. Two lines of comment come first. The line "--" ends each statement, so that nothing
 * here parses SQL. The rows of a COPY follow it.
 */

export const FIRST_LINE = '-- Backup of the Pool Trading Data API';
export const STATEMENT_END = '--';
export const LAST_STATEMENT = 'COMMIT;';
export const COPY_ROWS = /^COPY .* FROM STDIN;$/;
export const ROWS_END = '\\.';

/** The second line, in JSON. */
export const headerSchema = z.object({
  /** Version of the service that wrote it. */
  release: z.string(),
  /** Files of `migrations/` that made its tables. */
  migrations: z.array(z.object({ name: z.string(), checksum: z.string() })),
});

export type BackupHeader = z.infer<typeof headerSchema>;
