import { Command } from 'commander';
import type pg from 'pg';
import { runMain } from '../runtime/run-main.ts';
import { EXIT_CODES, printResult } from './output.ts';
import { formatTable } from './table.ts';
import { withDatabase } from './with-database.ts';

type ChainStatus = {
  readonly chainId: number;
  readonly indexedBlock: number;
  readonly indexedAgeSecs: number;
  readonly pools: number;
  readonly listed: number;
  readonly healthy: number;
  readonly priceAgeSecs: number | null;
  readonly listingAgeSecs: number | null;
};

const STATUS_SQL = `
  SELECT b.chain_id::float8 AS "chainId", b.block_number::float8 AS "indexedBlock",
         round(extract(epoch FROM now()) - b.block_timestamp)::int AS "indexedAgeSecs",
         (SELECT count(*) FROM read_model.pool p WHERE p.chain_id = b.chain_id)::int AS pools,
         (SELECT count(*) FROM operator.pool_listing l WHERE l.chain_id = b.chain_id AND l.tier <> 'black')::int AS listed,
         (SELECT count(*) FROM operator.price_health h WHERE h.chain_id = b.chain_id AND h.status = 'healthy')::int AS healthy,
         (SELECT round(extract(epoch FROM now() - min(h.captured_at))) FROM operator.price_health h
          WHERE h.chain_id = b.chain_id)::int AS "priceAgeSecs",
         round(extract(epoch FROM now()) - w.generated_at_ts)::int AS "listingAgeSecs"
  FROM read_model.indexed_block b
  LEFT JOIN operator.listing_window w ON w.chain_id = b.chain_id
  ORDER BY b.chain_id`;

const command = new Command('status')
  .description('How far each chain is indexed, and how fresh its prices and its listing are.')
  .option('--json', 'print JSON')
  .addHelpText(
    'after',
    `
AGE is that of the newest block in the index. How far the index is behind its chain, the API tells at /ready.

Examples:
  npm run status
  npm run --silent status -- --json

Settings: DATABASE_URL.
${EXIT_CODES}`,
  );

async function report(database: pg.Pool, json: boolean): Promise<void> {
  const { rows } = await database.query<ChainStatus>(STATUS_SQL);
  const headings = ['CHAIN', 'BLOCK', 'AGE (S)', 'POOLS', 'LISTED', 'HEALTHY', 'OLDEST PRICE (S)', 'LISTING AGE (S)'];
  const cells = rows.map((row) => [
    ...[row.chainId, row.indexedBlock, row.indexedAgeSecs, row.pools, row.listed, row.healthy],
    ...[row.priceAgeSecs, row.listingAgeSecs],
  ]);
  printResult(json, rows, formatTable(headings, cells));
}

runMain(async () => {
  const { json } = command.parse().opts<{ json?: true }>();
  await withDatabase((database) => report(database, json === true));
});
