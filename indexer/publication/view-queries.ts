/*
 * Queries of the views of `live`. Most views show a table unchanged. Some tables hold lists, which saves the indexer
 * rows and columns; views show these lists as rows and columns. Thus readers see the same when an index stores data in
 * another form, and the views switch together with their index.
 */

/**
 * @param tables names of the tables of an index, in this schema
 * @returns queries by the name of the view
 */
export function viewQueries(schema: string, tables: readonly string[]): ReadonlyMap<string, string> {
  const asTheyAre = tables.map((name) => [name, `SELECT * FROM "${schema}"."${name}"`] as const);
  return new Map([...Object.entries(ABSENT), ...asTheyAre, ...Object.entries(unpacked(schema))]);
}

/** Empty views in place of tables that an index of before release 0.3 lacks, as its migration makes them. */
const ABSENT: Readonly<Record<string, string>> = {
  v0_pool: `
      SELECT NULL::int8 AS chain_id, NULL::text AS address, NULL::text AS token0, NULL::text AS token1,
             NULL::int8 AS block_number, NULL::int8 AS block_timestamp
      WHERE false`,
  v0_swap: `
      SELECT NULL::int8 AS chain_id, NULL::int8 AS block_number, NULL::int8 AS block_timestamp, NULL::int4 AS log_index,
             NULL::text AS transaction_hash, NULL::text AS pool, NULL::text AS sender, NULL::text AS recipient,
             NULL::int4 AS transaction_index, NULL::text AS transaction_from, NULL::text AS transaction_to,
             NULL::boolean AS zero_for_one, NULL::boolean AS exact_input, NULL::numeric AS amount0_raw,
             NULL::numeric AS amount1_raw
      WHERE false`,
};

/** Views that unpack lists. Only packed pools have sums of swap deltas, and only their swaps have `details`. */
function unpacked(schema: string): Readonly<Record<string, string>> {
  return {
    pool_bin: `
      SELECT s.chain_id, s.pool, s.lowest_bin + bin.place::int4 - 1 AS bin_idx,
             CASE WHEN s.bin_swap_deltas0 IS NULL THEN bin.token0_scaled END AS token0_scaled,
             CASE WHEN s.bin_swap_deltas0 IS NULL THEN bin.token1_scaled END AS token1_scaled,
             bin.total_shares, bin.length_e6, bin.add_fee_buy_e6, bin.add_fee_sell_e6, bin.lower_dist_e6,
             s.block_number, s.block_timestamp
      FROM "${schema}".pool_state s
      JOIN "${schema}".pool p ON p.chain_id = s.chain_id AND p.address = s.pool,
           unnest(s.bin_balances0_scaled, s.bin_balances1_scaled, s.bin_shares, p.bin_lengths_e6,
                  p.bin_add_fees_buy_e6, p.bin_add_fees_sell_e6, s.bin_lower_dists_e6) WITH ORDINALITY
             AS bin (token0_scaled, token1_scaled, total_shares, length_e6, add_fee_buy_e6, add_fee_sell_e6,
                     lower_dist_e6, place)`,
    packed_bin: `
      SELECT s.chain_id, s.pool, s.lowest_bin + bin.place::int4 - 1 AS bin_idx, bin.liquidity0_scaled,
             bin.liquidity1_scaled, bin.swap_delta0, bin.swap_delta1, s.block_number, s.block_timestamp
      FROM "${schema}".pool_state s,
           unnest(s.bin_balances0_scaled, s.bin_balances1_scaled, s.bin_swap_deltas0, s.bin_swap_deltas1) WITH ORDINALITY
             AS bin (liquidity0_scaled, liquidity1_scaled, swap_delta0, swap_delta1, place)
      WHERE s.bin_swap_deltas0 IS NOT NULL`,
    bin_swap: `
      SELECT ${partPlace}, CASE WHEN s.details IS NULL THEN s.parts[n][3] END AS delta0_scaled,
             CASE WHEN s.details IS NULL THEN s.parts[n][4] END AS delta1_scaled,
             CASE WHEN s.details IS NULL THEN s.parts[n][5] END AS lp_fee_scaled
      FROM "${schema}".swap s, generate_subscripts(s.parts, 1) n`,
    packed_bin_swap: `
      SELECT ${partPlace}, s.parts[n][3] AS delta0, s.parts[n][4] AS delta1, s.parts[n][5] AS fees_high,
             s.parts[n][6] AS fees_low
      FROM "${schema}".swap s, generate_subscripts(s.parts, 1) n
      WHERE s.details IS NOT NULL`,
  };
}

/** Columns that identify the swap of a row, and the part of it. */
const partPlace = `s.chain_id, s.block_number, s.block_timestamp, s.parts[n][1]::int4 AS log_index, s.transaction_hash,
             s.pool, s.parts[n][2]::int4 AS bin_idx`;
