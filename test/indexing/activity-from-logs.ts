import type pg from 'pg';
import { type Address, type PublicClient, parseEventLogs } from 'viem';
import { flatPoolEvents } from '../../protocol/layouts/flat/pool-abi.ts';
import { toRawCeil, toRawFloor } from '../../protocol/scaling.ts';
import type { IndexedPool } from './indexed-pools.ts';

/** Sums over all raw logs of a pool. The notional fee is in no log: it is left out. */
export interface LoggedActivity {
  swapCount: number;
  swapTxCount: number;
  liquidityAddCount: number;
  liquidityRemoveCount: number;
  transferCount: number;
  swapIn: [bigint, bigint];
  swapOut: [bigint, bigint];
  liquidityIn: [bigint, bigint];
  liquidityOut: [bigint, bigint];
  feesCollected: [bigint, bigint];
  /** By the token that went into the bins. */
  lpFee: [bigint, bigint];
}

type PoolLogs = ReturnType<typeof parseEventLogs<typeof flatPoolEvents, true>>;

/** Adds up what a pool logged, straight from the node. */
export async function sumLoggedActivity(
  client: PublicClient,
  address: Address,
  pool: IndexedPool,
): Promise<LoggedActivity> {
  const logs = await client.getLogs({ address, fromBlock: 0n });
  const events: PoolLogs = parseEventLogs({ abi: flatPoolEvents, logs });
  const sums = nothing();
  const swapTransactions = new Set<string>();
  for (const event of events) {
    if (event.eventName === 'Swap') {
      swapTransactions.add(event.transactionHash);
      sums.swapCount += 1;
      move(sums, sums.swapIn, sums.swapOut, [event.args.amount0Delta, event.args.amount1Delta]);
    }
    if (event.eventName === 'BinSwapped') {
      const { delta, lpFeeAmount } = event.args;
      sums.lpFee[delta.delta0Scaled > 0n ? 0 : 1] += lpFeeAmount;
    }
    if (event.eventName === 'LiquidityAdded' || event.eventName === 'LiquidityRemoved') {
      const added = event.eventName === 'LiquidityAdded';
      if (added) sums.liquidityAddCount += 1;
      else sums.liquidityRemoveCount += 1;
      const raw = ([0, 1] as const).map((token) => rawAmount(event.args.binBalanceDeltas, token, pool));
      move(sums, sums.liquidityIn, sums.liquidityOut, [raw[0] ?? 0n, raw[1] ?? 0n]);
    }
    if (event.eventName === 'ProtocolFeesCollected') {
      const { amount0ToProtocol, amount1ToProtocol, amount0ToAdmin, amount1ToAdmin } = event.args;
      sums.feesCollected[0] += amount0ToProtocol + amount0ToAdmin;
      sums.feesCollected[1] += amount1ToProtocol + amount1ToAdmin;
      for (const amount of Object.values(event.args)) sums.transferCount += amount === 0n ? 0 : 1;
    }
  }
  return { ...sums, swapTxCount: swapTransactions.size };
}

function move(
  sums: LoggedActivity,
  into: [bigint, bigint],
  out: [bigint, bigint],
  amounts: readonly [bigint, bigint],
): void {
  for (const token of [0, 1] as const) {
    const amount = amounts[token];
    if (amount > 0n) into[token] += amount;
    else out[token] -= amount;
    sums.transferCount += amount === 0n ? 0 : 1;
  }
}

/** Raw amount of a liquidity change in one token: rounded up into the pool, down out of it. */
export function rawAmount(
  deltas: readonly { readonly delta0Scaled: bigint; readonly delta1Scaled: bigint }[],
  token: 0 | 1,
  pool: IndexedPool,
): bigint {
  const multiplier = token === 0 ? pool.token0ScaleMultiplier : pool.token1ScaleMultiplier;
  let scaled = 0n;
  for (const delta of deltas) scaled += token === 0 ? delta.delta0Scaled : delta.delta1Scaled;
  return scaled > 0n ? toRawCeil(scaled, multiplier) : -toRawFloor(-scaled, multiplier);
}

function nothing(): LoggedActivity {
  const none = (): [bigint, bigint] => [0n, 0n];
  return {
    swapCount: 0,
    swapTxCount: 0,
    liquidityAddCount: 0,
    liquidityRemoveCount: 0,
    transferCount: 0,
    swapIn: none(),
    swapOut: none(),
    liquidityIn: none(),
    liquidityOut: none(),
    feesCollected: none(),
    lpFee: none(),
  };
}

/** The same of a row of `pool_activity`. */
export function activityOf(row: pg.QueryResultRow): LoggedActivity {
  return {
    swapCount: row.swap_count,
    swapTxCount: row.swap_tx_count,
    liquidityAddCount: row.liquidity_add_count,
    liquidityRemoveCount: row.liquidity_remove_count,
    transferCount: row.transfer_count,
    swapIn: [row.swap_in0_raw, row.swap_in1_raw],
    swapOut: [row.swap_out0_raw, row.swap_out1_raw],
    liquidityIn: [row.liquidity_in0_raw, row.liquidity_in1_raw],
    liquidityOut: [row.liquidity_out0_raw, row.liquidity_out1_raw],
    feesCollected: [row.fees_collected0_raw, row.fees_collected1_raw],
    lpFee: [row.lp_fee0_scaled, row.lp_fee1_scaled],
  };
}
