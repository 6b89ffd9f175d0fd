import type { Hex, TransactionReceipt } from 'viem';
import { type DevChain, findReceipt, submit, type Transaction } from '../dev-chain.ts';
import { request } from '../json-rpc.ts';
import { type QuoteUpdate, sendSigned } from './maker.ts';
import type { PendingBlock } from './pending-block.ts';
import type { PendingUpdates } from './pending-updates.ts';

/**
 * Which updates land in the block that they are for. `with-trade`: those that a trade needs, each right before the
 * first such trade; all, where others sent swaps. `every`: all, at the top of the block. `never`: none. `late`: none;
 * all land at the top of the next block, where their prices are stale.
 */
export type Landing = 'with-trade' | 'every' | 'never' | 'late';

/** A call from an account that the node unlocks, and the feeds whose prices it needs. */
export interface LiveTrade {
  readonly transaction: Transaction;
  readonly feedIds: readonly Hex[];
}

export interface BuiltBlock extends PendingBlock {
  /** Of the updates for this block that landed in it, in their order. */
  readonly updates: readonly TransactionReceipt[];
  /** In the order of the trades. A trade that its pool rejects has the status `reverted`. */
  readonly trades: readonly TransactionReceipt[];
}

/**
 * Mines the pending block with the swaps that others sent, then these trades, in their order. The node must not mine
 * by itself, and must order transactions by arrival (`anvil --order fifo`).
 *
 * @throws Error when the node mined a block of another number or time, or has taken it back already
 */
export async function mineBlock(
  chain: DevChain,
  pending: PendingUpdates,
  { landing, trades }: { readonly landing: Landing; readonly trades: readonly LiveTrade[] },
): Promise<BuiltBlock> {
  const { block } = pending;
  const updates = pending.all();
  const landed: Hex[] = [];
  const sent = new Set<QuoteUpdate>();
  const land = async (update: QuoteUpdate): Promise<void> => {
    if (sent.has(update)) return;
    sent.add(update);
    landed.push(await sendSigned(chain, update.transaction));
  };
  const swaps = pending.takeSwaps();
  if (landing === 'every' || (landing === 'with-trade' && swaps.length > 0))
    for (const update of updates) await land(update);
  for (const swap of swaps) await sendSigned(chain, swap);
  const hashes: Hex[] = [];
  for (const { transaction, feedIds } of trades) {
    if (landing === 'with-trade') for (const update of pending.of(feedIds)) await land(update);
    hashes.push(await submit(chain, transaction));
  }
  await mineAt(chain, block);
  // They wait in the node, so that they are the first transactions of the next block.
  if (landing === 'late') for (const { transaction } of updates) await sendSigned(chain, transaction);
  const receiptsOf = (wanted: readonly Hex[]) => Promise.all(wanted.map((hash) => landedIn(chain, block, hash)));
  return { ...block, updates: await receiptsOf(landed), trades: await receiptsOf(hashes) };
}

/** A node has the receipts of a block as soon as it has mined it. */
async function landedIn(chain: DevChain, { number }: PendingBlock, hash: Hex): Promise<TransactionReceipt> {
  const receipt = await findReceipt(chain, hash);
  if (receipt?.blockNumber !== number) throw new Error(`transaction ${hash} is not in block ${number}`);
  return receipt;
}

async function mineAt({ rpcUrl, client }: DevChain, { number, timeSecs }: PendingBlock): Promise<void> {
  await request(rpcUrl, 'evm_setNextBlockTimestamp', [Number(timeSecs)]);
  await request(rpcUrl, 'evm_mine', []);
  const head = await client.getBlock();
  if (head.number === number && head.timestamp === timeSecs) return;
  throw new Error(`the node mined ${head.number} at ${head.timestamp} instead of ${number} at ${timeSecs}`);
}
