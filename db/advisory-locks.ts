/** Keys of the advisory locks of all processes: a fixed number for each work that only one session does at a time. */
export const ADVISORY_LOCKS = {
  /** Writing a schema of the index. The second half of the key identifies the schema. */
  indexSchema: 7_203_145,
  /** Reading Ponder's cache (shared), or removing logs from it. The second half of the key is 0. */
  indexCache: 7_203_146,
  /** Making and dropping partitions of the history, in `migrations/0005_history.sql` and what replaced parts of it. */
  historyPartitions: 7_203_147,
  /** Running migrations. */
  migrations: 7_203_145_901,
  /** Computing and publishing the listing. */
  listing: 7_203_145_902,
} as const;
