/** What the indexer sends by IPC to the process that started it. */
export const INDEXER_MESSAGES = {
  /** Its rows were written by other code, or by code for other chains: a backfill builds a new index. Then it ends. */
  otherCode: 'other code',
  /** It has written all final blocks of the schema that a backfill fills. */
  complete: 'complete',
} as const;

/** What a backfill sends by IPC to the process that started it, once it knows what it does. */
export interface BackfillBegin {
  readonly type: 'begin';
  /** The schema that readers see until the new one is filled; null when no index serves yet. */
  readonly replaces: string | null;
}
