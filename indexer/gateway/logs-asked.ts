/** A call that Ponder makes to a node. */
interface Question {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Of the block whose logs are asked for by its hash, where it is known. */
  readonly blockNumber?: string | undefined;
}

type Filter = { readonly blockHash?: string; readonly fromBlock?: string; readonly toBlock?: string };
type Place = { readonly blockHash?: unknown; readonly blockNumber?: unknown } | null;

/**
 * Counts logs of other blocks than a question is about. Without a parser, as all logs of the index come through here;
 * Ponder reads the blocks of logs, and rejects those of none.
 */
export function countMisplaced({ method, params, blockNumber }: Question, result: unknown): number {
  if (method !== 'eth_getLogs' || !Array.isArray(result)) return 0;
  const { blockHash, fromBlock = blockNumber, toBlock = blockNumber } = (params[0] ?? {}) as Filter;
  // What is not given is no number, and bounds nothing.
  const [first, last] = [Number(fromBlock), Number(toBlock)];
  let misplaced = 0;
  for (const log of result as readonly Place[]) {
    const number = Number(log?.blockNumber);
    if (number < first || number > last || (blockHash !== undefined && log?.blockHash !== blockHash)) misplaced += 1;
  }
  return misplaced;
}
