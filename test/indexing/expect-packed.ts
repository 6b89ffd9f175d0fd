import type pg from 'pg';
import type { Address, PublicClient } from 'viem';
import { expect } from 'vitest';
import { balanceOf } from '../../devnet/actions.ts';
import type { PackedSetup } from '../../devnet/packed/random-pool.fixture.ts';
import { readPackedState } from '../../devnet/packed/storage.fixture.ts';
import { factoryAbi } from '../../devnet/protocol-abi.ts';
import { divCeil } from '../../protocol/fixed-point.ts';
import { readPackedLogs } from './packed-logs.ts';

/** What only the words of packed swaps report: null. */
const UNKNOWN_OF_SWAP = [
  'exact_input',
  'lp_fee_scaled',
  'protocol_fee_scaled',
  'notional_fee_scaled',
  'cur_bin_idx',
  'cur_pos_in_bin',
];
const UNKNOWN_OF_STATE = [
  'cur_bin_idx',
  'cur_pos_in_bin',
  'cur_bin_dist_from_provided_price_e6',
  'total0_scaled',
  'total1_scaled',
  'notional_fee0_scaled',
  'notional_fee1_scaled',
];
const UNKNOWN_TOTALS = [
  'lp_fee0_scaled',
  'lp_fee1_scaled',
  'protocol_fee0_scaled',
  'protocol_fee1_scaled',
  'notional_fee0_scaled',
  'notional_fee1_scaled',
];

interface Looked {
  readonly rows: pg.Client;
  readonly client: PublicClient;
  readonly setup: PackedSetup;
}

/** Compares the index of every pool of a packed factory with raw logs and storage. Returns their addresses. */
export async function expectPackedIndexed(looked: Looked, chainId: number): Promise<Address[]> {
  const { client, setup } = looked;
  const factory = { address: setup.deployment.poolFactory, abi: factoryAbi } as const;
  const next = await client.readContract({ ...factory, functionName: 'nextPoolIdx' });
  const pools: Address[] = [];
  for (let idx = 1n; idx < next; idx++) {
    const pool = await client.readContract({ ...factory, functionName: 'idxToPool', args: [idx] });
    pools.push(pool.toLowerCase() as Address);
  }
  for (const pool of pools) await expectPool(looked, chainId, pool);
  return pools;
}

async function expectPool({ rows, client, setup }: Looked, chainId: number, pool: Address): Promise<void> {
  const select = async (columns: string, table: string, rest = '') =>
    (await rows.query(`SELECT ${columns} FROM ${table} WHERE chain_id = $1 AND pool = $2 ${rest}`, [chainId, pool]))
      .rows;
  const [settings] = (await rows.query('SELECT * FROM live.pool WHERE chain_id = $1 AND address = $2', [chainId, pool]))
    .rows;
  const multipliers = [settings.token0_scale_multiplier, settings.token1_scale_multiplier] as const;
  const logs = await readPackedLogs(client, pool);
  const [totals] = await select('*', 'read_model.pool_activity', 'ORDER BY block_timestamp DESC LIMIT 1');
  if (totals === undefined) expect(logs.activity).toEqual({ swap_tx_count: 0 });
  else expect(totals).toMatchObject(activityOf(logs, multipliers));

  const swaps = await select('*', 'live.swap', 'ORDER BY block_number, log_index');
  expect(swaps).toMatchObject(logs.swaps.map((swap) => ({ ...swap, ...nulls(UNKNOWN_OF_SWAP) })));
  const parts = await select('*', 'live.packed_bin_swap', 'ORDER BY block_number, log_index');
  expect(parts).toMatchObject(logs.parts);
  const shown = await select(
    'bin_idx, delta0_scaled, lp_fee_scaled',
    'live.bin_swap',
    'ORDER BY block_number, log_index',
  );
  expect(shown).toEqual(parts.map(({ bin_idx }) => ({ bin_idx, delta0_scaled: null, lp_fee_scaled: null })));
  await expectState({ setup, pool, settings, select, logs });
}

/** Every known total by its column. Liquidity rounds in the pool's favour. */
function activityOf({ activity, liquidity }: Awaited<ReturnType<typeof readPackedLogs>>, scale: readonly bigint[]) {
  const sums: Record<string, bigint> = {};
  let transfers = BigInt(activity.transfer_count ?? 0);
  for (const amounts of liquidity) {
    for (const token of [0, 1] as const) {
      const [scaled, multiplier] = [amounts[token], scale[token] ?? 1n];
      const raw = scaled > 0n ? divCeil(scaled, multiplier) : -scaled / multiplier;
      const name = `liquidity_${scaled > 0n ? 'in' : 'out'}${token}_raw`;
      sums[name] = (sums[name] ?? 0n) + raw;
      if (raw !== 0n) transfers += 1n;
    }
  }
  const counted = Object.entries({ ...activity, transfer_count: transfers }).map(([name, value]) => [
    name,
    name.endsWith('_count') ? Number(value) : value,
  ]);
  return { ...sums, ...Object.fromEntries(counted), ...nulls(UNKNOWN_TOTALS) };
}

async function expectState({
  setup: { chain, deployment },
  pool,
  settings,
  select,
  logs,
}: {
  readonly setup: PackedSetup;
  readonly pool: Address;
  readonly settings: pg.QueryResultRow;
  readonly select: (columns: string, table: string) => Promise<pg.QueryResultRow[]>;
  readonly logs: Awaited<ReturnType<typeof readPackedLogs>>;
}): Promise<void> {
  const binIdxs = Array.from(
    { length: settings.highest_bin - settings.lowest_bin + 1 },
    (_, index) => settings.lowest_bin + index,
  );
  const stored = await readPackedState(chain, pool, binIdxs);
  const [state] = await select('*', 'live.pool_state');
  expect(state).toMatchObject({
    ...nulls(UNKNOWN_OF_STATE),
    pause_level: Number(stored.pauseLevel),
    spread_fee_e6: Number(stored.spreadFeeE6),
    notional_fee_e8: Number(stored.notionalFeeE8),
    bid_ask_ref_asymmetry_x8: stored.asymmetryX8 === 0n ? null : Number(stored.asymmetryX8),
    balance0_raw: await balanceOf(chain, settings.token0, pool),
    balance1_raw: await balanceOf(chain, settings.token1, pool),
  });
  const bins = await select('*', 'live.packed_bin');
  const shown = await select('*', 'live.pool_bin');
  expect(bins).toHaveLength(binIdxs.length);
  for (const { bin_idx, liquidity0_scaled, liquidity1_scaled, swap_delta0, swap_delta1 } of bins) {
    const sums = [liquidity0_scaled, liquidity1_scaled, swap_delta0, swap_delta1];
    expect(sums, `bin ${bin_idx}`).toEqual(logs.bins.get(bin_idx) ?? [0n, 0n, 0n, 0n]);
    const bin = stored.bins.get(bin_idx);
    if (deployment.variant.deltaScale === 'scaled') {
      expect([sums[0] + sums[2], sums[1] + sums[3]]).toEqual([bin?.balance0, bin?.balance1]);
    }
    expect(shown.find((row) => row.bin_idx === bin_idx)).toMatchObject({
      token0_scaled: null,
      token1_scaled: null,
      total_shares: bin?.shares,
      length_e6: Number(bin?.lengthE6),
      add_fee_buy_e6: Number(bin?.addFeeBuyE6),
      add_fee_sell_e6: Number(bin?.addFeeSellE6),
    });
  }
}

function nulls(columns: readonly string[]): Record<string, null> {
  return Object.fromEntries(columns.map((column) => [column, null]));
}
