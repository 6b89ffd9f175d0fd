import type pg from 'pg';
import { encodeFunctionData } from 'viem';
import { tokenAbi } from '../../devnet/abi.ts';
import { type DevChain, send } from '../../devnet/dev-chain.ts';
import type { ScenarioPool } from '../../devnet/scenario/plan.ts';

/** Raw units of token0 and token1. */
export type Amounts = readonly [bigint, bigint];

/** Sends both tokens to a pool by plain transfers, of which the pool logs nothing. */
export async function donate(chain: DevChain, pool: ScenarioPool, amounts: Amounts): Promise<void> {
  for (const [side, token] of [pool.token0, pool.token1].entries()) {
    const args = [pool.address, amounts[side] ?? 0n] as const;
    const data = encodeFunctionData({ abi: tokenAbi, functionName: 'transfer', args });
    await send(chain, { from: chain.roles.trader, to: token, data });
  }
}

/** What capture read of each pool's balances less what its events sum up to. */
export async function balanceDifferences(database: pg.Pool, chainId: number): Promise<Map<string, Amounts>> {
  const { rows } = await database.query<{ pool: string; difference0: string; difference1: string }>(
    `SELECT pool, b.balance0_raw - s.balance0_raw AS difference0, b.balance1_raw - s.balance1_raw AS difference1
     FROM read_model.pool_state s JOIN read_model.pool_balance b USING (chain_id, pool) WHERE chain_id = $1`,
    [chainId],
  );
  return new Map(rows.map((row) => [row.pool, [BigInt(row.difference0), BigInt(row.difference1)]]));
}
