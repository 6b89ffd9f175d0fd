import { ChainRpc } from '../../chain/chain-rpc.ts';
import type { RpcEndpoint } from '../../chain/rpc-endpoint.ts';
import { type Doubted, type NodeLog, Receipt, sortByFault } from './compare-logs.ts';

/** The index waits for a receipt for this long. */
const RECEIPT_MS = 2_000;
/** Most transactions whose receipts are asked for after one answer, and how many at a time. */
const MAX_RECEIPTS = 20;
const RECEIPTS_AT_A_TIME = 4;

/**
 * Sorts logs that one node gave and another did not. Of many transactions, the first ones stand for all if they agree.
 */
export async function judgeLogs(logs: readonly NodeLog[], giver: RpcEndpoint, other: RpcEndpoint): Promise<Doubted> {
  const hashes = [...new Set(logs.map(({ transactionHash }) => transactionHash))].slice(0, MAX_RECEIPTS);
  const atOther = await readReceipts(other, hashes);
  const doubted = sortByFault(logs, atOther, atOther);
  if (doubted.invented.length === 0) return doubted;
  // Only if its own receipts lack them too: receipts of one node alone are no proof.
  return sortByFault(logs, atOther, await readReceipts(giver, hashes));
}

type Receipts = ReadonlyMap<string, Receipt>;

async function readReceipts(node: RpcEndpoint, hashes: readonly string[]): Promise<Receipts> {
  const rpc = new ChainRpc([node]);
  const receipts = new Map<string, Receipt>();
  for (let begin = 0; begin < hashes.length; begin += RECEIPTS_AT_A_TIME) {
    const read = async (hash: string) => {
      const signal = AbortSignal.timeout(RECEIPT_MS);
      const request = rpc.requestOptional('eth_getTransactionReceipt', [hash], (found) => Receipt.parse(found), signal);
      receipts.set(hash, await request.catch(() => null));
    };
    await Promise.all(hashes.slice(begin, begin + RECEIPTS_AT_A_TIME).map(read));
  }
  return receipts;
}
