/** Keys of the advisory locks of all processes: fixed numbers, each for one thing that one session does at a time. */
export const ADVISORY_LOCKS = {
  /** Writes a schema of the index; a second half distinguishes schemas. */
  indexSchema: 7_203_145,
  /** Reads Ponder's cache, or removes logs from it; its second half is 0. */
  indexCache: 7_203_146,
  /** Makes and drops partitions of the history, in `migrations/0005_history.sql`. */
  historyPartitions: 7_203_147,
  /** Migrates. */
  migrations: 7_203_145_901,
  /** Computes and publishes the listing. */
  listing: 7_203_145_902,
} as const;
