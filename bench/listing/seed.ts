import type pg from 'pg';
import type { PoolTier } from '../../capture/listing/record.ts';
import { TOTAL_NAMES } from '../../protocol/pool-totals.ts';
import { MARKET } from './market.ts';

/** Seconds over which a pool's swaps are spread: more than the week that the listing looks back. */
const SPREAD_SECS = 8 * 86_400;

/** Tokens, pools with state, bins, extensions, operator data: everything the listing joins. */
export async function seedPools(
  database: pg.Pool,
  now: number,
  poolsPerChain: number = MARKET.poolsPerChain,
): Promise<void> {
  const { chainIds, factory, stopLoss, schema } = MARKET;
  for (const chainId of chainIds) {
    await database.query(`
      INSERT INTO ${schema}.token (chain_id, address, symbol, name, decimals, block_number, block_timestamp)
      SELECT ${chainId}, ${addressOf('n')}, 'TOK' || n, 'Token number ' || n, 6 + 12 * (n % 2), 1, 1
      FROM generate_series(1, 100) n;
      INSERT INTO operator.fiat_price SELECT ${chainId}, ${addressOf('n')}, 0.5 + n, 'static', now()
      FROM generate_series(1, 100) n;
      INSERT INTO ${schema}.price_provider (chain_id, address, kind, factory, creator, oracle, base, quote, margin_step,
        base_feed_id, quote_feed_id, min_margin, max_ref_staleness_secs, max_spread_bps, mutable_params, block_number, block_timestamp)
      SELECT ${chainId}, ${addressOf('900000 + n')}, 'anchored', '${factory}', ${addressOf('7')}, ${addressOf('8')},
        ${addressOf('1 + n % 100')}, ${addressOf('1 + (n + 37) % 100')}, 10, '0x' || repeat('ab', 32), '0x' || repeat('00', 32),
        5, 10, 50, false, 1, 1
      FROM generate_series(1, ${poolsPerChain}) n;
      INSERT INTO ${schema}.pool (chain_id, address, factory, pool_idx, token0, token1, token0_scale_multiplier,
        token1_scale_multiplier, lowest_bin, highest_bin, bin_lengths_e6, bin_add_fees_buy_e6, bin_add_fees_sell_e6, initial_amount0_per_share_e18, initial_amount1_per_share_e18,
        minimal_mintable_liquidity, creator, created_block_number, created_timestamp, created_transaction_hash, admin,
        admin_fee_destination, protocol_spread_fee_e6, admin_spread_fee_e6, protocol_notional_fee_e8,
        admin_notional_fee_e8, price_provider, price_provider_since_block, price_provider_timelock_secs,
        before_add_liquidity_order, after_add_liquidity_order, before_remove_liquidity_order, after_remove_liquidity_order,
        before_swap_order, after_swap_order, block_number, block_timestamp)
      SELECT ${chainId}, ${addressOf('1000000 + n')}, '${factory}', n, ${addressOf('1 + n % 100')},
        ${addressOf('1 + (n + 37) % 100')}, 1000000, 1, -5, 5, ${ofBins(1_000)}, ${ofBins(0)}, ${ofBins(0)}, 1, 1, 1, ${addressOf('n % 50')}, 1000 + n, ${now - SPREAD_SECS},
        '0x' || repeat('cd', 32), ${addressOf('n % 50')}, ${addressOf('n % 50')}, 100000, 50000, 1000, 2000,
        ${addressOf('900000 + n')}, 1000 + n, 86400, 0, 0, 0, 0, 0, 1, 1, 1
      FROM generate_series(1, ${poolsPerChain}) n;
      INSERT INTO ${schema}.pool_state (chain_id, pool, pause_level, cur_bin_idx, cur_pos_in_bin,
        cur_bin_dist_from_provided_price_e6, spread_fee_e6, notional_fee_e8, total0_scaled, total1_scaled,
        notional_fee0_scaled, notional_fee1_scaled, balance0_raw, balance1_raw, lowest_bin, bin_balances0_scaled,
        bin_balances1_scaled, bin_shares, bin_lower_dists_e6, activity_totals, block_number, block_timestamp)
      SELECT ${chainId}, ${addressOf('1000000 + n')}, 0, 0, 1, 0, 150000, 3000, (n::int8 * 7919 % 100003)::numeric * 1e17,
        (n::int8 * 104729 % 100003)::numeric * 1e17, 0, 0, 0, 0, -5, ${ofBins(10n ** 21n)},
        ${ofBins(10n ** 21n)}, ${ofBins(10n ** 21n)}, ${ofBins(0)}, array_fill(0, ARRAY[${TOTAL_NAMES.length}]), 1, 1
      FROM generate_series(1, ${poolsPerChain}) n;
      INSERT INTO ${schema}.pool_extension (chain_id, pool, "position", address, phases, block_number, block_timestamp)
      SELECT ${chainId}, ${addressOf('1000000 + n')}, 1, '${stopLoss}', '{afterSwap}', 1, 1
      FROM generate_series(1, ${poolsPerChain}) n;
      INSERT INTO ${schema}.stop_loss (chain_id, address, pool, drawdown_e6, decay_per_second_e8, timelock_secs,
        block_number, block_timestamp)
      SELECT ${chainId}, '${stopLoss}', ${addressOf('1000000 + n')}, 100000, 100, 86400, 1, 1
      FROM generate_series(1, ${poolsPerChain}) n;
      INSERT INTO operator.price_health
      SELECT ${chainId}, ${addressOf('1000000 + n')}, 'healthy', 1, 2, 1, 1, now() + interval '1 day', NULL, NULL, true
      FROM generate_series(1, ${poolsPerChain}) n`);
  }
}

/** Tiers of the pools. */
export function classifyMarket({ createdBlockNumber }: { readonly createdBlockNumber: number }): PoolTier {
  const tiers = ['green', 'yellow', 'red'] as const;
  return { tier: tiers[createdBlockNumber % tiers.length] ?? 'red', reasonCodes: ['curator_unverified'] };
}

/** Swaps of each pool that are added, of `perPool` that end at `now`, Unix seconds. */
export interface SwapRange {
  readonly now: number;
  readonly from: number;
  readonly to: number;
  readonly perPool: number;
}

/** Some of the swaps of every pool, evenly over the spread, each with its row of running totals. */
export async function seedSwaps(database: pg.Pool, { now, from, to, perPool }: SwapRange): Promise<void> {
  const { chainIds, poolsPerChain, schema } = MARKET;
  const second = `${now - SPREAD_SECS} + (k * ${SPREAD_SECS} / ${perPool})`;
  for (const chainId of chainIds) {
    await insertSwaps(database, {
      chainId,
      pools: [1, poolsPerChain],
      swaps: [from, to],
      firstBlock: 1_000_000,
      second,
    });
    // A swap writes the state of its pool, by which the refresh knows that something happened.
    await database.query(`UPDATE ${schema}.pool_state SET block_number = 1000000 + ${to} WHERE chain_id = ${chainId}`);
  }
  await database.query('ANALYZE');
}

interface SeededSwaps {
  readonly chainId: number;
  /** First and last number of what is inserted. */
  readonly pools: readonly [number, number];
  readonly swaps: readonly [number, number];
  /** Before that of swap number 1; blocks are to be as old as they are low. */
  readonly firstBlock: number;
  /** SQL: Unix seconds of swap number `k`. */
  readonly second: string;
}

/** Swaps of some pools of a chain, each with its row of running totals. */
export async function insertSwaps(
  database: pg.Pool,
  { chainId, pools, swaps, firstBlock, second }: SeededSwaps,
): Promise<void> {
  const { schema } = MARKET;
  const rows = `generate_series(${swaps[0]}::int8, ${swaps[1]}) k, generate_series(${pools}) n`;
  await database.query(`
    INSERT INTO ${schema}.swap (chain_id, block_number, block_timestamp, log_index, transaction_hash, pool, sender, recipient,
      transaction_index, transaction_from, transaction_to, zero_for_one, exact_input, amount0_raw, amount1_raw, lp_fee_scaled, protocol_fee_scaled, notional_fee_scaled,
      cur_bin_idx, cur_pos_in_bin, parts)
    SELECT ${chainId}, ${firstBlock} + k, ${second}, n, '0x' || md5(k || ':' || n) || md5(n || ':' || k), ${addressOf('1000000 + n')},
      ${addressOf('5')}, ${addressOf('6')}, 0, ${addressOf('7')}, ${addressOf('5')}, true, true, 1000000, -990000, 3000000000000, 300000000000, 100000000000, 0, 12345678901234567890,
      '{{0,0,1000000000000000000,-990000000000000000,3000000000000}}'
    FROM ${rows}`);
  await database.query(`
    INSERT INTO ${schema}.pool_activity (chain_id, pool, block_number, block_timestamp, totals)
    SELECT ${chainId}, ${addressOf('1000000 + n')}, ${firstBlock} + k, ${second}, ARRAY[k, k, 1, 0, 2 * k, k * 1000000, 0,
      0, k * 990000, 1000000, 1000000, 0, 0, 0, 0, k * 3000000000000, 0, k * 300000000000, 0, 0, k * 100000000000]
      || array_fill(0::numeric, ARRAY[${TOTAL_NAMES.length - 21}])
    FROM ${rows}`);
}

/** SQL: a list with the same of each of a pool's 11 bins. */
function ofBins(value: number | bigint): string {
  return `array_fill(${value}::numeric, ARRAY[11])`;
}

/** SQL: a lowercase address out of a number. */
function addressOf(expression: string): string {
  return `'0x' || lpad(to_hex(${expression}), 40, '0')`;
}
