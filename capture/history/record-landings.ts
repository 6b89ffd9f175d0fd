import { numberToHex } from 'viem';
import { z } from 'zod';
import { quantity } from '../../chain/node-answers.ts';
import { HexBytes32 } from '../../config/scalars.ts';
import { loadStatement } from '../../db/load-statement.ts';
import type { FillDeps } from './record-fills.ts';

const blocksOfUpdates = loadStatement<{ readonly blockNumber: string }>('./blocks-of-updates.sql', import.meta.url);
const countLanded = loadStatement('./count-landed.sql', import.meta.url);

const BlockTransactions = z.object({ timestamp: quantity, transactions: z.array(HexBytes32) });

/**
 * Records which published updates are in the block that they were for, once that is final, with one request for each
 * block. Counts such blocks in the hours of funded pools.
 *
 * @throws RpcFailure or an error of Postgres: earlier blocks are recorded, and the next run reads the rest
 */
export async function recordLandings({
  database,
  chainId,
  rpc,
  hasSpareCalls,
}: Omit<FillDeps, 'pools'>): Promise<void> {
  for (const { blockNumber } of await blocksOfUpdates(database, [chainId])) {
    if (!hasSpareCalls()) return;
    const { timestamp, transactions } = await rpc.request(
      'eth_getBlockByNumber',
      [numberToHex(BigInt(blockNumber)), false],
      (result) => BlockTransactions.parse(result),
    );
    await countLanded(database, [chainId, blockNumber, String(timestamp), transactions]);
  }
}
