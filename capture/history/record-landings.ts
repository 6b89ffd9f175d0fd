import { numberToHex } from 'viem';
import { z } from 'zod';
import type { ChainRpc } from '../../chain/chain-rpc.ts';
import { quantity } from '../../chain/node-answers.ts';
import { RpcFailure, refusesRequest } from '../../chain/rpc-failure.ts';
import { HexBytes32 } from '../../config/scalars.ts';
import { loadStatement } from '../../db/load-statement.ts';
import type { FillDeps } from './record-fills.ts';

const blocksOfUpdates = loadStatement<{ readonly blockNumber: string }>('./blocks-of-updates.sql', import.meta.url);
const countLanded = loadStatement('./count-landed.sql', import.meta.url);

const BlockTransactions = z.object({ timestamp: quantity, transactions: z.array(HexBytes32) });

/**
 * Records which published updates are in the block that they were for, once that is final, with one request for each
 * block. Counts such blocks in the hours of funded pools. Makers name any block: one that no node has, or has no more,
 * is left, and keeps no other from being recorded.
 *
 * @throws RpcFailure or an error of Postgres: later blocks are recorded, and the next run reads the rest
 */
export async function recordLandings({
  database,
  chainId,
  rpc,
  hasSpareCalls,
}: Omit<FillDeps, 'pools'>): Promise<void> {
  for (const { blockNumber } of await blocksOfUpdates(database, [chainId])) {
    if (!hasSpareCalls()) return;
    const block = await readTransactions(rpc, BigInt(blockNumber)).catch((error: unknown) => {
      if (!refusesRequest(error)) throw error;
    });
    if (block) await countLanded(database, [chainId, blockNumber, String(block.timestamp), block.transactions]);
  }
}

const readTransactions = (rpc: ChainRpc, number: bigint) =>
  rpc.request('eth_getBlockByNumber', [numberToHex(number), false], (result) => {
    if (result === null) throw new RpcFailure('refused', `no node has block ${number}`);
    return BlockTransactions.parse(result);
  });
