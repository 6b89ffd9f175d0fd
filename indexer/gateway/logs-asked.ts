import { RpcFailure } from '../../chain/rpc-failure.ts';

/** A call that Ponder makes to a node. */
interface Question {
  readonly method: string;
  readonly params: readonly unknown[];
  /** Of the block whose logs are asked for by its hash, where it is known. */
  readonly blockNumber?: string;
}

type Filter = { readonly blockHash?: string; readonly fromBlock?: string; readonly toBlock?: string };
type Place = { readonly blockHash?: unknown; readonly blockNumber?: unknown } | null;

/**
 * Rejects logs of other blocks than a question is about: then the next node is asked. Without a parser, as all logs of
 * the index come through here; Ponder reads the blocks of logs, and rejects those of none.
 *
 * @throws RpcFailure `malformed`
 */
export function assertLogsAsked({ method, params, blockNumber }: Question, result: unknown): void {
  if (method !== 'eth_getLogs' || !Array.isArray(result)) return;
  const { blockHash, fromBlock = blockNumber, toBlock = blockNumber } = (params[0] ?? {}) as Filter;
  // What is not given is no number, and bounds nothing.
  const [first, last] = [Number(fromBlock), Number(toBlock)];
  for (const log of result as readonly Place[]) {
    const number = Number(log?.blockNumber);
    if (number < first || number > last || (blockHash !== undefined && log?.blockHash !== blockHash))
      throw new RpcFailure('malformed', 'a node gave logs of another block than was asked for');
  }
}
