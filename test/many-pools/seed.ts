import pg from 'pg';
import { migrate } from '../../db/migrate.ts';
import * as onchain from '../../indexer/ponder.schema.ts';
import { arrayLiteral } from '../../indexer/schema/number-list.ts';
import { createOnchainTables } from '../harness/onchain-tables.ts';
import { openSeeder, type Seeder, seedPools, seedToken } from '../harness/seed-pools.ts';
import { addHistory, advanceIndex } from './activity.ts';
import type { PoolGroup, SeededChain } from './pool-groups.ts';
import { SCHEMA, untrustedTokenSql } from './pool-kinds.ts';

const STAMP = { blockNumber: 1, blockTimestamp: 1 };

/** Fills the index's tables with the pools of these chains. @param onlyHonest without the untrusted ones */
export async function seedIndex(
  database: pg.Pool,
  url: string,
  chains: readonly SeededChain[],
  onlyHonest: boolean,
): Promise<void> {
  await createOnchainTables(database, SCHEMA);
  await seedChains(database, url, chains, onlyHonest);
  await addHistory(database);
  await advanceIndex(
    database,
    chains.map(({ chainId }) => chainId),
  );
  await database.query('VACUUM ANALYZE');
}

/** Adds the tokens and pools of these chains to the index's tables. @param onlyHonest without the untrusted ones */
export async function seedChains(
  database: pg.Pool,
  url: string,
  chains: readonly SeededChain[],
  onlyHonest: boolean,
): Promise<void> {
  await database.query('CREATE TABLE honest_pool (chain_id int8, pool text, PRIMARY KEY (chain_id, pool))');
  const seeder = openSeeder(url, SCHEMA);
  try {
    for (const chain of chains) {
      const groups = chain.groups.filter(({ kind }) => !onlyHonest || kind === 'honest');
      await seedTokens(database, seeder, chain);
      for (const group of groups) await seedGroup(database, seeder, chain, group);
    }
  } finally {
    await seeder.end();
  }
}

/** Migrates a database and fills its index with the honest pools of these chains. */
export async function fillIndex(url: string, chains: readonly SeededChain[]): Promise<void> {
  await migrate(url);
  const database = new pg.Pool({ connectionString: url, max: 4 });
  try {
    await seedIndex(database, url, chains, true);
  } finally {
    await database.end();
  }
}

async function seedTokens(database: pg.Pool, { db }: Seeder, { chainId, pairs, groups }: SeededChain): Promise<void> {
  for (const [index, { token0, token1, decimals0, decimals1 }] of pairs.entries()) {
    await seedToken(db, { chainId, address: token0, symbol: `BASE${index}`, decimals: decimals0 });
    await seedToken(db, { chainId, address: token1, symbol: `USD${index}`, decimals: decimals1 });
  }
  const untrusted = Math.max(...groups.map(({ kind, clones }) => (kind === 'honest' ? 0 : clones)));
  await database.query(
    `INSERT INTO ${SCHEMA}.token (chain_id, address, symbol, name, decimals, block_number, block_timestamp)
     SELECT DISTINCT ON (2) $1::int8, ${untrustedTokenSql}, 'USDC <b>' || n, repeat('token ', 50), 18, 1, 1
     FROM generate_series(0, $2::int8) n`,
    [chainId, untrusted],
  );
}

async function seedGroup(database: pg.Pool, { db }: Seeder, chain: SeededChain, group: PoolGroup): Promise<void> {
  const { chainId } = chain;
  const { served } = group;
  await seedPools(db, [{ pool: poolRow(chain, group), state: stateRow(group) }]);
  for (const [index, { address, phases }] of served.extensions.entries()) {
    const extension = { chainId, pool: served.address, position: index + 1, address, phases: [...phases], ...STAMP };
    await db.insert(onchain.poolExtension).values(extension);
    const settings = { drawdownE6: 50_000n, decayPerSecondE8: 0n, timelockSecs: 100n };
    await db.insert(onchain.stopLoss).values({ chainId, address, pool: served.address, ...settings, ...STAMP });
  }
  await copyRows(database, chain, group);
  if (group.kind !== 'honest') return;
  await database.query(
    `INSERT INTO honest_pool SELECT $1::int8, $2::text
     UNION SELECT $1, '0x' || lpad(to_hex($3::int8 + n), 40, '0') FROM generate_series(0, $4::int8 - 1) n`,
    [chainId, served.address, group.firstClone, group.clones],
  );
}

function poolRow({ chainId, world: { chain, deployment } }: SeededChain, { served, state, priceProvider }: PoolGroup) {
  const { token0, token1, immutables, address } = served;
  const { lowestBin, highestBin, scale } = immutables;
  return {
    chainId,
    address,
    factory: deployment.poolFactory,
    priceProvider,
    token0: token0.address,
    token1: token1.address,
    token0ScaleMultiplier: scale.multiplier0,
    token1ScaleMultiplier: scale.multiplier1,
    lowestBin,
    highestBin,
    creator: chain.roles.curator,
    admin: chain.roles.curator,
    binLengthsE6: arrayLiteral(state.bins.map(({ lengthE6 }) => lengthE6)),
    binAddFeesBuyE6: arrayLiteral(state.bins.map(() => 0)),
    binAddFeesSellE6: arrayLiteral(state.bins.map(() => 0)),
  };
}

function stateRow({ state, served }: PoolGroup) {
  const { multiplier0, multiplier1 } = served.immutables.scale;
  const { bins, cursor, lowestBin, pauseLevel, spreadFeeE6, notionalFeeE8 } = state;
  const sum = (values: readonly bigint[]) => values.reduce((total, value) => total + value, 0n);
  const [balances0, balances1] = [bins.map(({ token0Scaled }) => token0Scaled), bins.map((bin) => bin.token1Scaled)];
  return {
    pauseLevel,
    spreadFeeE6,
    notionalFeeE8,
    lowestBin,
    curBinIdx: cursor.bin,
    curPosInBin: cursor.position,
    curBinDistFromProvidedPriceE6: cursor.lowerDistE6,
    total0Scaled: sum(balances0),
    total1Scaled: sum(balances1),
    balance0Raw: sum(balances0) / multiplier0,
    balance1Raw: sum(balances1) / multiplier1,
    binBalances0Scaled: arrayLiteral(balances0),
    binBalances1Scaled: arrayLiteral(balances1),
    binShares: arrayLiteral(bins.map(() => 10n ** 18n)),
    binLowerDistsE6: arrayLiteral(bins.map((_, index) => (lowestBin + index) * 1_000)),
  };
}

/** The copies of a group; untrusted ones outside the crowded pair have an untrusted token and one of that pair. */
async function copyRows(database: pg.Pool, chain: SeededChain, group: PoolGroup): Promise<void> {
  const { kind, served, firstClone, clones } = group;
  const { token0, token1 } = chain.crowded;
  const isOfPair = kind === 'honest' || kind === 'crowd';
  const tokens = isOfPair
    ? ''
    : `, 'token0', ${untrustedTokenSql}, 'token1', CASE n % 2 WHEN 0 THEN '${token0}' ELSE '${token1}' END`;
  const copies = (table: string, address: string, changes: string) =>
    database.query(
      `INSERT INTO ${SCHEMA}.${table} SELECT copy.* FROM ${SCHEMA}.${table} made, generate_series(0, $3::int8 - 1) n,
       LATERAL jsonb_populate_record(made, jsonb_build_object('${address}', '0x' || lpad(to_hex($4::int8 + n), 40, '0')${changes})) copy
       WHERE made.chain_id = $1 AND made.${address} = $2`,
      [chain.chainId, served.address, clones, firstClone],
    );
  await copies('pool', 'address', `, 'pool_idx', n + ${firstClone}${tokens}`);
  await copies('pool_state', 'pool', '');
}
