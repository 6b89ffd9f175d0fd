import type { Address } from 'viem';
import { z } from 'zod';
import { HexAddress } from '../../config/scalars.ts';
import { absBigint } from '../../protocol/fixed-point.ts';
import { TOTAL } from '../../protocol/pool-totals.ts';
import { parseJson } from '../../runtime/json.ts';
import { FACTS, type IndexedFact, type IndexedFacts, plainFact } from './facts.ts';
import { type AllowlistRow, type GuardRow, indexedAllowlists, indexedGuards } from './indexed-extensions.ts';

const Integer = z.union([z.int(), z.bigint()]).transform(BigInt);
const Small = z.int();
const OptionalInteger = Integer.nullable();
const Integers = z.array(Integer);

/** The columns of `pool` that are compared, or that say what to read. */
const PoolRow = z.object({
  address: HexAddress,
  factory: HexAddress,
  admin: HexAddress,
  admin_fee_destination: HexAddress,
  protocol_spread_fee_e6: Small,
  admin_spread_fee_e6: Small,
  protocol_notional_fee_e8: Small,
  admin_notional_fee_e8: Small,
  price_provider: HexAddress,
  lowest_bin: Small,
  highest_bin: Small,
  token0_scale_multiplier: Integer,
  token1_scale_multiplier: Integer,
  bin_lengths_e6: Integers,
  bin_add_fees_buy_e6: Integers,
  bin_add_fees_sell_e6: Integers,
});

/** The columns of `pool_state` that are compared. */
const StateRow = z.object({
  pause_level: Small,
  cur_bin_idx: Small.nullable(),
  cur_pos_in_bin: OptionalInteger,
  cur_bin_dist_from_provided_price_e6: Small.nullable(),
  spread_fee_e6: Small,
  notional_fee_e8: Small,
  total0_scaled: OptionalInteger,
  total1_scaled: OptionalInteger,
  notional_fee0_scaled: OptionalInteger,
  notional_fee1_scaled: OptionalInteger,
  bin_balances0_scaled: Integers,
  bin_balances1_scaled: Integers,
  bin_swap_deltas0: Integers.nullable(),
  bin_swap_deltas1: Integers.nullable(),
  bin_shares: Integers,
  activity_totals: z.array(OptionalInteger),
});

type PoolRow = z.output<typeof PoolRow>;
type StateRow = z.output<typeof StateRow>;

/** A pool as the index had it at a block. */
export interface IndexedPool {
  readonly address: Address;
  readonly factory: Address;
  readonly lowestBin: number;
  readonly highestBin: number;
  readonly facts: IndexedFacts;
}

/** What the index has of a pool. */
interface IndexedRows {
  /** Row of `pool`, as JSON. */
  readonly pool: string;
  /** Row of `pool_state`, as JSON. */
  readonly state: string;
  /** In the order of their positions, as are those that follow. */
  readonly extensions: readonly string[];
  readonly allowlists: readonly AllowlistRow[];
  readonly guards: readonly GuardRow[];
}

/**
 * Reads a pool from rows of the index.
 *
 * @throws an error when they are not such rows
 */
export function readIndexedPool({ pool, state, extensions, allowlists, guards }: IndexedRows): IndexedPool {
  const row = PoolRow.parse(parseJson(pool));
  const facts = {
    ...factsOfPool(row, extensions),
    ...factsOfState(row, StateRow.parse(parseJson(state))),
    ...indexedAllowlists(allowlists),
    ...indexedGuards(guards),
  };
  const { address, factory, lowest_bin: lowestBin, highest_bin: highestBin } = row;
  return { address, factory, lowestBin, highestBin, facts };
}

function factsOfPool(row: PoolRow, extensions: readonly string[]): IndexedFacts {
  const fees = [
    row.protocol_spread_fee_e6,
    row.admin_spread_fee_e6,
    row.protocol_notional_fee_e8,
    row.admin_notional_fee_e8,
  ];
  const shapes = row.bin_lengths_e6.map((length, bin) =>
    [length, row.bin_add_fees_buy_e6[bin], row.bin_add_fees_sell_e6[bin]].join(' '),
  );
  return {
    admin: plainFact('admin', row.admin),
    adminFeeDestination: plainFact('adminFeeDestination', row.admin_fee_destination),
    factoryFees: plainFact('factoryFees', fees.join(' ')),
    provider: plainFact('provider', row.price_provider),
    binShapes: plainFact('binShapes', shapes.join()),
    extensions: plainFact('extensions', extensions.join()),
  };
}

function factsOfState(pool: PoolRow, state: StateRow): IndexedFacts {
  const cursor = [state.cur_bin_idx, state.cur_pos_in_bin, state.cur_bin_dist_from_provided_price_e6];
  const totals = [state.total0_scaled, state.total1_scaled];
  const fees = [state.notional_fee0_scaled, state.notional_fee1_scaled];
  const { bin_balances0_scaled: balances0, bin_balances1_scaled: balances1 } = state;
  const swaps = state.activity_totals[TOTAL.swapCount] ?? 0n;
  const [scale0, scale1] = [pool.token0_scale_multiplier, pool.token1_scale_multiplier];
  return {
    pauseLevel: plainFact('pauseLevel', String(state.pause_level)),
    spreadFee: plainFact('spreadFee', String(state.spread_fee_e6)),
    notionalFee: plainFact('notionalFee', String(state.notional_fee_e8)),
    shares: plainFact('shares', state.bin_shares.join()),
    binBalances0: binBalances(balances0, state.bin_swap_deltas0, scale0, swaps),
    binBalances1: binBalances(balances1, state.bin_swap_deltas1, scale1, swaps),
    // Null for packed pools.
    ...(cursor.includes(null) ? {} : { cursor: plainFact('cursor', cursor.join(' ')) }),
    ...(totals.includes(null) ? {} : { totals: plainFact('totals', totals.join(' ')) }),
    ...(fees.includes(null) ? {} : { accruedNotionalFees: plainFact('accruedNotionalFees', fees.join(' ')) }),
  };
}

/** What balances of bins can show; each shows those before it as well. */
const SHOWN_BY_BALANCES = ['liquidity', 'swapsOfEqualUnits', 'swapsOfScaledUnits'];
/** All that agreement can show. */
export const PROVABLE: readonly string[] = [...FACTS, 'pools', ...SHOWN_BY_BALANCES];

/**
 * What bins hold of a token. Of packed pools the index has liquidity and swaps apart, swaps in scaled or raw units:
 * only a pool in which both differ shows that they are scaled. Raw units of a swap may all be zero where it moved less.
 */
function binBalances(
  liquidity: readonly bigint[],
  moves: readonly bigint[] | null,
  multiplier: bigint,
  swaps: bigint,
): IndexedFact {
  const value = liquidity.map((amount, bin) => amount + (moves?.[bin] ?? 0n)).join();
  const isMoved = (amounts: readonly bigint[] | null) => amounts?.some((amount) => amount !== 0n) ?? false;
  const ofSwaps = multiplier === 1n ? 'swapsOfEqualUnits' : 'swapsOfScaledUnits';
  const shown = isMoved(moves) ? ofSwaps : 'liquidity';
  const shows = isMoved(liquidity) ? SHOWN_BY_BALANCES.slice(0, SHOWN_BY_BALANCES.indexOf(shown) + 1) : [];
  if (swaps === 0n) return { value, shows, needs: 'liquidity' };
  if (multiplier === 1n) return { value, shows, needs: ofSwaps };
  // Raw units of each swap are rounded.
  const isRaw = (held: string, bin: number) =>
    absBigint(BigInt(held) - (liquidity[bin] ?? 0n) - (moves?.[bin] ?? 0n) * multiplier) <= swaps * multiplier;
  return { value, shows, needs: ofSwaps, mayBe: (chain) => chain.split(',').every(isRaw) };
}
