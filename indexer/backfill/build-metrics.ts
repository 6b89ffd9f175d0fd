/** What the indexer of a backfill says of itself. */
export type BuildMetrics = {
  /** Written so far. */
  readonly events: number;
  /** Names of the chains of which not all final logs are there yet; null before it has looked for them. */
  readonly fetching: readonly string[] | null;
  /** Whether all final events are written. */
  readonly isWritten: boolean;
};

/** Reads what an indexer serves at `/metrics`. */
export function readBuildMetrics(text: string): BuildMetrics {
  const totals = byChain(text, 'ponder_historical_total_blocks');
  const cached = byChain(text, 'ponder_historical_cached_blocks');
  const fetched = byChain(text, 'ponder_historical_completed_blocks');
  const isMissing = ([chain, total]: [string, number]) => (cached.get(chain) ?? 0) + (fetched.get(chain) ?? 0) < total;
  const events = byChain(text, 'ponder_indexing_completed_events');
  return {
    events: [...events.values()].reduce((sum, count) => sum + count, 0),
    fetching: totals.size === 0 ? null : [...totals].filter(isMissing).map(([chain]) => chain),
    isWritten: byChain(text, 'ponder_historical_end_timestamp_seconds').size > 0,
  };
}

/** The sum of a metric by the chain that it names. */
function byChain(text: string, metric: string): Map<string, number> {
  const sums = new Map<string, number>();
  for (const [, labels = '', value] of text.matchAll(new RegExp(`^${metric}\\{(.*)\\} (\\d+)$`, 'gm'))) {
    const chain = /chain="([^"]*)"/.exec(labels)?.[1] ?? '';
    sums.set(chain, (sums.get(chain) ?? 0) + Number(value));
  }
  return sums;
}
