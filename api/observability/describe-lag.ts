import type { ChainLag } from './indexing-watch.ts';

/** What the last poll learned from the database: null when it did not answer. */
export type IndexState = 'served' | 'first sync' | null;

/** Says why the index of a chain is stalled, and how far it is. */
export function describeLag(lag: ChainLag, state: IndexState): string {
  const { chainId, indexedBlock, lagBlocks } = lag;
  if (indexedBlock === null) return describeUnindexed(lag, state);
  if (lagBlocks === null) return `chain ${chainId}: no node reports its head`;
  if (lagBlocks < 0) return `chain ${chainId} is indexed ${-lagBlocks} blocks beyond its head`;
  return `chain ${chainId} is indexed ${lagBlocks} blocks behind its head`;
}

function describeUnindexed({ chainId, firstSync, headBlock }: ChainLag, state: IndexState): string {
  const what = `chain ${chainId} is not indexed`;
  if (state === null) return `chain ${chainId}: the database does not say what is indexed`;
  if (!firstSync && state === 'served') return `${what}: the served index lacks it, until a backfill is complete`;
  if (!firstSync) return `${what}: no indexer has begun the first sync`;
  const { fromBlock, blockNumber, logs } = firstSync;
  if (blockNumber === null) return `${what}: the first sync fetches logs, ${logs} so far`;
  return `${what}: the first sync is at block ${blockNumber}, from ${fromBlock} to ${headBlock ?? 'an unknown head'}`;
}
