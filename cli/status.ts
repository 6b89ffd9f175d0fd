import { sql } from 'drizzle-orm';
import type pg from 'pg';
import { loadChainsFile } from '../config/load-chains.ts';
import { isUnreadable } from '../db/factory-calibration.ts';
import { readFoundContracts } from '../db/found-contracts.ts';
import { loadStatement } from '../db/load-statement.ts';
import { queriesOn } from '../db/query-builder.ts';
import { layoutCalibrations } from '../db/schema/operator.ts';
import { EXTENSION_ROLES } from '../protocol/layouts/contract-roles.ts';
import { databaseProgram, type JsonOption, onDatabase, type Result, runCommand } from './run-command.ts';
import { formatTable } from './table.ts';

/** An indexed chain; ages in seconds. */
interface ChainStatus {
  readonly chainId: number;
  readonly indexedBlock: number;
  readonly indexedAgeSecs: number;
  readonly pools: number;
  readonly listed: number;
  readonly healthy: number;
  readonly priceAgeSecs: number | null;
  readonly listingAgeSecs: number | null;
}

const selectStatus = loadStatement<ChainStatus>('./status.sql', import.meta.url);

/** Factories whose pools are not served, with the reason and the age of that decision, seconds. */
function selectUnreadable(database: pg.Pool) {
  const { chainId, factory, what, decided, decidedAt } = layoutCalibrations;
  return queriesOn(database)
    .select({
      chainId,
      factory,
      reason: sql<string>`${what} || ': ' || ${decided}`,
      decidedSecsAgo: sql<number>`round(extract(epoch FROM now() - ${decidedAt}))::int`,
    })
    .from(layoutCalibrations)
    .where(isUnreadable)
    .orderBy(chainId, factory);
}

const program = databaseProgram(
  'status',
  'How far each chain is indexed, and how fresh its prices and its listing are. AGE is that of the newest indexed block.',
  ['status', '--silent status -- --json', 'status -- --contracts'],
)
  .option('--contracts', 'instead, which extensions and provider factories are known, and how')
  .option('--json', 'print JSON')
  .action(
    onDatabase((database, { contracts }: JsonOption & { contracts?: true }) =>
      contracts ? reportContracts(database) : report(database),
    ),
  );

async function report(database: pg.Pool): Promise<Result> {
  const [chains, unreadable] = await Promise.all([selectStatus(database, []), selectUnreadable(database)]);
  const value = chains.map((chain) => ({
    ...chain,
    notServed: unreadable.filter(({ chainId }) => chainId === chain.chainId).map(({ chainId: _, ...row }) => row),
  }));
  const tables = [formatTable(CHAINS, chains), ...(unreadable.length ? [formatTable(NOT_SERVED, unreadable)] : [])];
  return { value, text: tables.join('\n\n') };
}

/** Contracts that the chains file names, and those that the indexer found besides when it began the served index. */
async function reportContracts(database: pg.Pool): Promise<Result> {
  const path = process.env.CHAINS_CONFIG;
  const chains = path ? loadChainsFile(path, null).chains : [];
  const listed = chains.flatMap(({ chainId, deployments }) =>
    deployments.flatMap(({ poolFactory, ...deployment }) => {
      const extensions = EXTENSION_ROLES.map((role) => [role, deployment[role]] as const);
      const anchored = deployment.anchoredProviderFactories.map((address) => ['anchored', address] as const);
      const regular = deployment.providerFactories.map(
        ({ address, l2 }) => [l2 ? 'regular_l2' : 'regular', address] as const,
      );
      return [...extensions, ...anchored, ...regular].flatMap(([role, address]) =>
        address ? [{ chainId, factory: poolFactory, role, address, how: 'the chains file names it' }] : [],
      );
    }),
  );
  const found = (await readFoundContracts(database)).map(({ maker, ...contract }) => ({
    ...contract,
    how: `found: ${maker} made it and the pool factory`,
  }));
  const value = [...listed, ...found].toSorted((one, other) => one.chainId - other.chainId);
  return { value, text: formatTable(CONTRACTS, value) };
}

const CONTRACTS = { CHAIN: 'chainId', FACTORY: 'factory', ROLE: 'role', CONTRACT: 'address', HOW: 'how' };

const CHAINS = {
  CHAIN: 'chainId',
  BLOCK: 'indexedBlock',
  'AGE (S)': 'indexedAgeSecs',
  POOLS: 'pools',
  LISTED: 'listed',
  HEALTHY: 'healthy',
  'OLDEST PRICE (S)': 'priceAgeSecs',
  'LISTING AGE (S)': 'listingAgeSecs',
};

const NOT_SERVED = {
  CHAIN: 'chainId',
  'FACTORY NOT SERVED': 'factory',
  REASON: 'reason',
  'DECIDED (S AGO)': 'decidedSecsAgo',
};

runCommand(program);
