import type { FirstSync } from '../../db/first-sync.ts';

/** How far the index of a chain is behind the chain, as `/ready` shows it. */
export type ChainLag = {
  readonly chainId: number;
  readonly name: string;
  /** Null when the chain is not indexed, or the database does not say. */
  readonly indexedBlock: number | null;
  /** Unix seconds. */
  readonly indexedTimestamp: number | null;
  /** Null when no node answers. */
  readonly headBlock: number | null;
  /** Negative when the index holds blocks that the node does not know. */
  readonly lagBlocks: number | null;
  /** Between the timestamps of the two blocks. */
  readonly lagSecs: number | null;
  /** Whether the index has not followed the chain for longer than `maxLagSecs`, or nodes are far behind the index. */
  readonly stalled: boolean;
  /** The longest reorganisation that the index undoes, in blocks and by the usual time between them. */
  readonly finalityBlocks: number;
  readonly finalitySecs: number;
  /** How far the first index of the chain has come; null once it serves. */
  readonly firstSync: FirstSyncProgress | null;
};

/** Blocks from the first to the last one that is indexed; `blockNumber` is null before the first. */
export type FirstSyncProgress = { readonly fromBlock: number } & Pick<FirstSync, 'blockNumber' | 'logs'>;

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
