import { TOTAL, TOTAL_NAMES, totalColumn, totalType } from '../../protocol/pool-totals.ts';

/*
 * What the views of `live` show. Most show a table as it is. Where rows hold lists, which spares the indexer rows and
 * columns, the views show these as rows and columns: what readers see does not change when an index keeps it otherwise,
 * and turns with the index that it belongs to.
 */

/**
 * @param tables of an index, in this schema
 * @returns queries by the name of their view
 */
export function shownTables(schema: string, tables: readonly string[]): ReadonlyMap<string, string> {
  const asTheyAre = tables.map((name) => [name, `SELECT * FROM "${schema}"."${name}"`] as const);
  return new Map([...asTheyAre, ...Object.entries(unpacked(schema))]);
}

function unpacked(schema: string): Readonly<Record<'pool_activity' | 'pool_bin' | 'bin_swap', string>> {
  return {
    pool_activity: `
      SELECT chain_id, pool, block_number, block_timestamp, ${totalColumns()}
      FROM "${schema}".pool_activity`,
    pool_bin: `
      SELECT s.chain_id, s.pool, s.lowest_bin + bin.place::int4 - 1 AS bin_idx, bin.token0_scaled, bin.token1_scaled,
             bin.total_shares, bin.length_e6, bin.add_fee_buy_e6, bin.add_fee_sell_e6, bin.lower_dist_e6,
             s.block_number, s.block_timestamp
      FROM "${schema}".pool_state s
      JOIN "${schema}".pool p ON p.chain_id = s.chain_id AND p.address = s.pool,
           unnest(s.bin_balances0_scaled, s.bin_balances1_scaled, s.bin_shares, p.bin_lengths_e6,
                  p.bin_add_fees_buy_e6, p.bin_add_fees_sell_e6, s.bin_lower_dists_e6) WITH ORDINALITY
             AS bin (token0_scaled, token1_scaled, total_shares, length_e6, add_fee_buy_e6, add_fee_sell_e6,
                     lower_dist_e6, place)`,
    bin_swap: `
      SELECT s.chain_id, s.block_number, s.block_timestamp, s.parts[n][1]::int4 AS log_index, s.transaction_hash, s.pool,
             s.parts[n][2]::int4 AS bin_idx, s.parts[n][3] AS delta0_scaled, s.parts[n][4] AS delta1_scaled,
             s.parts[n][5] AS lp_fee_scaled
      FROM "${schema}".swap s, generate_subscripts(s.parts, 1) n`,
  };
}

/** Every total as a column. */
function totalColumns(): string {
  return TOTAL_NAMES.map((name) => `totals[${TOTAL[name] + 1}]::${totalType(name)} AS ${totalColumn(name)}`).join(', ');
}
