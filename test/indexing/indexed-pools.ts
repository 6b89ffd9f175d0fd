import pg from 'pg';
import type { Address } from 'viem';

/** A pool's state and settings: what both the index and the chain report. */
export interface IndexedPool {
  readonly pauseLevel: number;
  readonly curBinIdx: number;
  readonly curPosInBin: bigint;
  readonly curBinDistFromProvidedPriceE6: number;
  readonly spreadFeeE6: number;
  readonly notionalFeeE8: number;
  readonly total0Scaled: bigint;
  readonly total1Scaled: bigint;
  readonly notionalFee0Scaled: bigint;
  readonly notionalFee1Scaled: bigint;
  readonly balance0Raw: bigint;
  readonly balance1Raw: bigint;
  readonly token0ScaleMultiplier: bigint;
  readonly token1ScaleMultiplier: bigint;
  readonly lowestBin: number;
  readonly highestBin: number;
  readonly priceProvider: Address;
  readonly protocolSpreadFeeE6: number;
  readonly adminSpreadFeeE6: number;
  readonly protocolNotionalFeeE8: number;
  readonly adminNotionalFeeE8: number;
  readonly admin: Address | null;
  readonly pendingAdmin: Address | null;
  readonly adminFeeDestination: Address | null;
  readonly priceProviderTimelockSecs: bigint;
  readonly pendingPriceProvider: Address | null;
  readonly pendingPriceProviderExecuteAfter: bigint | null;
  readonly bins: readonly {
    readonly binIdx: number;
    readonly token0Scaled: bigint;
    readonly token1Scaled: bigint;
    readonly totalShares: bigint;
    readonly lengthE6: number;
    readonly addFeeBuyE6: number;
    readonly addFeeSellE6: number;
  }[];
}

const INT8_OID = 20;
const NUMERIC_OID = 1700;

/** A connection that gives numeric as bigint and int8 as number. */
export async function connectExact(url: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    types: {
      getTypeParser: (oid: number, format) => {
        if (oid === INT8_OID) return Number;
        if (oid === NUMERIC_OID) return BigInt;
        return pg.types.getTypeParser(oid, format);
      },
    },
  });
  await client.connect();
  return client;
}

const POOLS_SQL = `
  SELECT pool.address,
    s.pause_level AS "pauseLevel", s.cur_bin_idx AS "curBinIdx", s.cur_pos_in_bin AS "curPosInBin",
    s.cur_bin_dist_from_provided_price_e6 AS "curBinDistFromProvidedPriceE6",
    s.spread_fee_e6 AS "spreadFeeE6", s.notional_fee_e8 AS "notionalFeeE8",
    s.total0_scaled AS "total0Scaled", s.total1_scaled AS "total1Scaled",
    s.notional_fee0_scaled AS "notionalFee0Scaled", s.notional_fee1_scaled AS "notionalFee1Scaled",
    s.balance0_raw AS "balance0Raw", s.balance1_raw AS "balance1Raw",
    pool.token0_scale_multiplier AS "token0ScaleMultiplier", pool.token1_scale_multiplier AS "token1ScaleMultiplier",
    pool.lowest_bin AS "lowestBin", pool.highest_bin AS "highestBin", pool.price_provider AS "priceProvider",
    pool.protocol_spread_fee_e6 AS "protocolSpreadFeeE6", pool.admin_spread_fee_e6 AS "adminSpreadFeeE6",
    pool.protocol_notional_fee_e8 AS "protocolNotionalFeeE8", pool.admin_notional_fee_e8 AS "adminNotionalFeeE8",
    pool.admin, pool.pending_admin AS "pendingAdmin", pool.admin_fee_destination AS "adminFeeDestination",
    pool.price_provider_timelock_secs AS "priceProviderTimelockSecs",
    pool.pending_price_provider AS "pendingPriceProvider",
    pool.pending_price_provider_execute_after AS "pendingPriceProviderExecuteAfter"
  FROM live.pool JOIN live.pool_state s ON s.chain_id = pool.chain_id AND s.pool = pool.address
  WHERE pool.chain_id = $1`;

const BINS_SQL = `
  SELECT pool, bin_idx AS "binIdx", token0_scaled AS "token0Scaled", token1_scaled AS "token1Scaled",
    total_shares AS "totalShares", length_e6 AS "lengthE6", add_fee_buy_e6 AS "addFeeBuyE6",
    add_fee_sell_e6 AS "addFeeSellE6"
  FROM live.pool_bin WHERE chain_id = $1 ORDER BY pool, bin_idx`;

/** Every pool of a chain as the index has it, by address. */
export async function readIndexedPools(client: pg.Client, chainId: number): Promise<Map<Address, IndexedPool>> {
  const { rows: pools } = await client.query(POOLS_SQL, [chainId]);
  const { rows: bins } = await client.query(BINS_SQL, [chainId]);
  return new Map(
    pools.map(({ address, ...pool }) => {
      const own = bins.filter((bin) => bin.pool === address).map(({ pool: _, ...bin }) => bin);
      return [address, { ...pool, bins: own }];
    }),
  );
}
