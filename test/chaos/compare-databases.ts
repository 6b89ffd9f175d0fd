import pg from 'pg';

/** Age at which a fiat price stops counting in a chaos run: soon, so that only what the chains say now is compared. */
export const FIAT_PRICE_AGE_SECS = 30;

/** Tables of two databases that are not equal, by name, and how many rows were compared. */
export interface Comparison {
  readonly relations: number;
  readonly rows: number;
  /** One text per difference, a few per relation. */
  readonly differences: readonly string[];
}

interface Relation {
  readonly schema: string;
  readonly name: string;
}

/** Columns that show when something was looked at rather than what was seen. */
const MOMENTS: Readonly<Record<string, readonly string[]>> = {
  'read_model.price_health': ['captured_at'],
  'read_model.pool_balance': ['captured_at'],
  'read_model.pool_storage': ['captured_at'],
  'read_model.fiat_price': ['priced_at'],
  // Gas is measured once depth is read: a reference run has just begun.
  'operator.price_health': ['captured_at', 'gas_token0_in', 'gas_token1_in', 'gas_at'],
  'operator.fiat_price': ['priced_at'],
  'operator.pool_classification': ['classified_at'],
  'operator.listing_window': ['generation', 'generated_at_ts', 'fiat_price_ts'],
  // They also go by prices that were known once. `read_model.pool_listing` shows the figures of present prices.
  'operator.pool_listing': ['tvl_fiat', 'volume_fiat', 'apr_bps', 'apr_bps_7d'],
  // How far blocks are final depends on when an indexer was started.
  'read_model.pool_day': ['is_final', 'volume_usd', 'lp_fee_usd'],
  'read_model.trade_candle': ['is_final'],
};

/**
 * What is compared in place of a view: bars with the swaps that are not final, wherever the kept minutes end. Sums of
 * dollars depend a little on the order in which they are added.
 */
const INSTEAD: Readonly<Record<string, string>> = {
  'read_model.trade_candle': `(SELECT p.chain_id, p.address AS pool, secs, (b).*, round((b).volume_usd::numeric, 2) AS volume_usd
    FROM read_model.pool p, unnest(ARRAY[60, 86400]) secs,
         LATERAL read_model.trade_bars(p.chain_id, p.address, secs, 0, 69444 * 86400::int8) b)`,
  'read_model.pool_day': `(SELECT d.*, round(tvl_usd::numeric, 2) AS tvl_usd, round(lp_return::numeric, 9) AS lp_return
    FROM read_model.pool_day d)`,
};

/** A price that could not be read again keeps its last value until it is too old to count. */
const FRESH: Readonly<Record<string, string>> = {
  'read_model.fiat_price': `priced_at > now() - interval '${FIAT_PRICE_AGE_SECS} s'`,
  'operator.fiat_price': `priced_at > now() - interval '${FIAT_PRICE_AGE_SECS} s'`,
};

/** Tables of the operator that follow from the chains and the configuration. */
const DERIVED = ['price_health', 'fiat_price', 'pool_classification', 'pool_listing', 'listed_pool', 'listing_window'];

/** What the chains do not decide: quote updates, and Ponder's notes of how it got where it is. */
const LEFT_OUT = [
  'read_model.pamm_submission',
  'read_model.pamm_answer',
  // Which swaps a calibration looked at: its result is configured here.
  'read_model.layout_calibration',
  // See BOTH_SAW.
  'read_model.quote_sample',
  'read_model.fill_quality',
  'read_model.quote_persistence',
  // Its block is compared through `read_model.indexed_block`.
  'live._ponder_checkpoint',
  'live._ponder_meta',
];

/**
 * What was quoted when somebody looked: compared where both databases have it. A reference run looks at blocks alone
 * that nothing replaces any more.
 */
const BOTH_SAW: Readonly<Record<string, string>> = {
  fill: `SELECT concat_ws(' ', chain_id, block_number, log_index, transaction_hash) AS place,
                concat_ws(' ', quoted_out_raw, parent_hash) AS seen
         FROM history.fill WHERE is_final AND quoted_out_raw IS NOT NULL`,
  sample: `SELECT concat_ws(' ', chain_id, pool, block_number, block_timestamp) AS place, concat_ws(' ', bid_x64, ask_x64) AS seen
           FROM history.quote_minute WHERE status = 'healthy'`,
  'depth of': `SELECT concat_ws(' ', chain_id, pool, block_number, block_timestamp) AS place,
                      concat_ws(' ', bid_depth_raw, ask_depth_raw) AS seen
               FROM history.quote_minute WHERE bid_depth_raw IS NOT NULL OR ask_depth_raw IS NOT NULL`,
};
type Seen = { readonly place: string; readonly seen: string };

const SHOWN_ROWS = 3;
const SHOWN_CHARACTERS = 600;

const ADDRESSES = /0x[0-9a-f]{40}/g;

/**
 * Compares the onchain tables, the read model's views and what the scheduled work derives, row by row and column by
 * column.
 *
 * @param untrusted rows that name one of these addresses are left out
 */
export async function compareDatabases(
  firstUrl: string,
  secondUrl: string,
  untrusted: ReadonlySet<string>,
): Promise<Comparison> {
  const [first, second] = await Promise.all([connect(firstUrl), connect(secondUrl)]);
  try {
    const relations = await relationsOf(first);
    const names = relations.map(nameOf);
    const otherNames = (await relationsOf(second)).map(nameOf);
    const differences =
      names.join() === otherNames.join() ? [] : [`tables: ${names.join()} against ${otherNames.join()}`];
    const isOfOthers = (row: string) => row.match(ADDRESSES)?.some((address) => untrusted.has(address)) !== true;
    let rows = 0;
    for (const relation of relations) {
      const all = await Promise.all([rowsOf(first, relation), rowsOf(second, relation)]);
      const [left, right] = [all[0].filter(isOfOthers), all[1].filter(isOfOthers)];
      rows += left.length;
      differences.push(...describe(relation, left, right));
    }
    for (const [what, query] of Object.entries(BOTH_SAW)) {
      const [found, expected] = await Promise.all([first.query<Seen>(query), second.query<Seen>(query)]);
      const others = new Map(expected.rows.map(({ place, seen }) => [place, seen]));
      for (const { place, seen } of found.rows) {
        const other = others.get(place);
        if (other === undefined) continue;
        rows += 1;
        if (other !== seen) differences.push(`${what} ${place}: ${seen} against ${other}`);
      }
    }
    return { relations: relations.length, rows, differences };
  } finally {
    await Promise.all([first.end(), second.end()]);
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

async function relationsOf(client: pg.Client): Promise<Relation[]> {
  const { rows } = await client.query<Relation>(
    `SELECT table_schema AS schema, table_name AS name FROM information_schema.tables
     WHERE table_schema IN ('live', 'read_model') OR (table_schema = 'operator' AND table_name = ANY ($1))
     ORDER BY 1, 2`,
    [DERIVED],
  );
  return rows.filter((relation) => !LEFT_OUT.includes(nameOf(relation)));
}

function nameOf({ schema, name }: Relation): string {
  return `${schema}.${name}`;
}

/** Rows as texts, in one order: numerics keep every digit. */
async function rowsOf(client: pg.Client, relation: Relation): Promise<string[]> {
  const name = nameOf(relation);
  const { rows } = await client.query<{ row: string }>(
    `SELECT (to_jsonb(t) - $1::text[])::text AS row FROM ${INSTEAD[name] ?? `"${relation.schema}"."${relation.name}"`} t
     WHERE ${FRESH[name] ?? true} ORDER BY 1`,
    [MOMENTS[name] ?? []],
  );
  return rows.map(({ row }) => row);
}

function describe(relation: Relation, left: readonly string[], right: readonly string[]): string[] {
  const missing = without(right, left);
  const surplus = without(left, right);
  if (missing.length + surplus.length === 0) return [];
  const show = (sign: string, rows: readonly string[]) =>
    rows.slice(0, SHOWN_ROWS).map((row) => `  ${sign} ${row.slice(0, SHOWN_CHARACTERS)}`);
  const head = `${nameOf(relation)}: ${missing.length} rows missing, ${surplus.length} too many of ${right.length}`;
  return [[head, ...show('-', missing), ...show('+', surplus)].join('\n')];
}

/** Rows of the first list that the second has not, each counted as often as it comes. */
function without(rows: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const row of others) counts.set(row, (counts.get(row) ?? 0) + 1);
  return rows.filter((row) => {
    const left = counts.get(row) ?? 0;
    counts.set(row, left - 1);
    return left <= 0;
  });
}
