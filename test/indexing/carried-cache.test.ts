import { readFile, writeFile } from 'node:fs/promises';
import { beforeAll, expect, test } from 'vitest';
import { servedSchema } from '../../db/served-schema.ts';
import { fundAccounts, swap } from '../../devnet/actions.ts';
import { type Deployment, deployProtocol } from '../../devnet/deploy.ts';
import { connectDevChain } from '../../devnet/dev-chain.ts';
import { request } from '../../devnet/json-rpc.ts';
import { setFeedPrice } from '../../devnet/providers.ts';
import { toX64 } from '../../devnet/scenario/market.ts';
import { buildPool } from '../../devnet/scenario/pool-builder.ts';
import { TRADING_POOLS } from '../../devnet/scenario/trading-pools.ts';
import { backfill, startBackfillWorld } from '../backfill/backfill-world.ts';
import { startedWorld } from '../harness/open-world.ts';
import { auditPools, differencesOf, suspectedOf } from './audit-pools.ts';
import { indexerStarter } from './indexer-process.ts';
import { buildOtherRelease } from './other-release.ts';
import { poolsOf, unlikeLogs } from './unlike-logs.ts';

/**
 * An index of a younger factory, then of an older one besides: the logs in the database are carried over. Of some
 * ranges they say that all was read, where it was not.
 */

const LIMIT_MS = 120_000;
/** More blocks than an index may undo, twice. */
const FINAL = '0x46';
const CHAIN = 31_337;

const world = startedWorld(() => startBackfillWorld(40));
const release = startedWorld(buildOtherRelease);
const startIndexer = indexerStarter();
let younger: Deployment;
let pools: readonly string[] = [];
/** The chains file with both factories. */
let both: string;
/** Folder of the release that runs; undefined for this one. */
let root: string | undefined;

const chainOf = (chainId: number) => {
  const chain = world.chains.find((each) => each.chainId === chainId);
  if (chain === undefined) throw new Error('no such chain');
  return chain;
};

beforeAll(async () => {
  const { url, scenario } = chainOf(CHAIN);
  const chain = await connectDevChain(url);
  younger = await deployProtocol(url, CHAIN);
  for (const { address } of scenario.tokens)
    await fundAccounts(chain, younger, address, {
      accounts: [chain.roles.provider, chain.roles.trader],
      amount: 10n ** 30n,
    });
  for (const { id, usd } of scenario.feeds) await setFeedPrice(chain, younger, { feedId: id, priceX64: toX64(usd) });
  const [plan] = TRADING_POOLS;
  if (plan === undefined) throw new Error('no plan');
  const { finish: _, ...quiet } = plan;
  const made: string[] = [];
  for (const salt of [800, 801]) {
    const { address } = await buildPool({ chain, deployment: younger, tokens: scenario.tokens }, quiet, salt);
    for (let times = 0; times < 3; times += 1)
      await swap(chain, younger, { pool: address, zeroForOne: true, amountSpecified: 10n ** 12n });
    made.push(address.toLowerCase());
  }
  pools = made;
  for (const each of world.chains) await request(each.url, 'anvil_mine', [FINAL]);
  both = await writeChainsFiles();
}, LIMIT_MS);

/** Leaves the younger factory alone in the file of the first chain. @returns the file with both */
async function writeChainsFiles(): Promise<string> {
  const file = JSON.parse(await readFile(world.chainsFile, 'utf8'));
  const withDeployments = (of: (older: { layout: string }[]) => object[]) => ({
    ...file,
    chains: file.chains.map((chain: { chainId: number; deployments: { layout: string }[] }) =>
      chain.chainId === CHAIN ? { ...chain, deployments: of(chain.deployments) } : chain,
    ),
  });
  const { poolFactory, stopLoss, priceVelocityGuard, fromBlock } = younger;
  const added = { contractVersion: 'v9', layout: 'flat', poolFactory, stopLoss, priceVelocityGuard, fromBlock };
  const path = world.chainsFile.replace('.json', '-both.json');
  await writeFile(path, JSON.stringify(withDeployments((older) => [...older, added])));
  await writeFile(world.chainsFile, JSON.stringify(withDeployments(() => [added])));
  return path;
}

/** Fills another index, with both factories, which nothing follows. */
async function refill(...parameters: readonly string[]): Promise<void> {
  const command = backfill({ ...world, root, chainsFile: both }, [...parameters, '--json']);
  expect(await command.ended, command.stderr()).toBe(0);
}

const audit = (chainsFile: string) => auditPools(world.database, chainsFile, CHAIN);
const unlike = (chainId: number) => unlikeLogs(world.database, chainOf(chainId));

test('an index of the younger factory has its pools alone', { timeout: LIMIT_MS }, async () => {
  const indexer = await startIndexer(world);
  const { rows } = await world.database.query('SELECT address FROM live.pool WHERE chain_id = $1 ORDER BY 1', [CHAIN]);
  expect(rows.map(({ address }) => address)).toEqual(pools.toSorted());
  expect(suspectedOf(await audit(world.chainsFile))).toEqual([]);
  await indexer.stop();
});

test('a factory that is added with an older block has all its history, from before the younger one', {
  timeout: LIMIT_MS,
}, async () => {
  const older = chainOf(CHAIN).scenario.deployment;
  expect(older.fromBlock).toBeLessThan(younger.fromBlock);
  await refill();
  for (const { chainId } of world.chains) expect(await unlike(chainId)).toEqual([]);
  expect(suspectedOf(await audit(both))).toEqual([]);
});

/** Ponder's mark of the code that wrote the served index. */
async function buildId(): Promise<unknown> {
  const schema = await servedSchema(world.database);
  const { rows } = await world.database.query(`SELECT value ->> 'build_id' AS id FROM "${schema}"._ponder_meta`);
  return rows[0]?.id;
}

test('of logs that a cache lacks in ranges that it says were read, carried to another release, pools are found and repaired', {
  timeout: 2 * LIMIT_MS,
}, async () => {
  const [pool = ''] = pools;
  const { rowCount } = await world.database.query(
    `DELETE FROM ponder_sync.logs WHERE chain_id = $1 AND address = $2 AND block_number =
       (SELECT max(block_number) FROM live.swap WHERE chain_id = $1 AND pool = $2)`,
    [CHAIN, pool],
  );
  expect(rowCount).toBeGreaterThan(0);
  const before = await buildId();
  root = release.path;
  await refill();
  expect(await buildId()).not.toBe(before);
  expect(poolsOf(await unlike(CHAIN))).toEqual([pool]);
  expect(suspectedOf(await audit(both))).toEqual([pool]);
  // A difference counts after another block of the index: as if it had been compared at the block before, too.
  await world.database.query('UPDATE operator.index_audit SET suspected_at_block = suspected_at_block - 1');
  expect([...differencesOf(await audit(both)).keys()]).toEqual([pool]);
  await world.database.query(`UPDATE operator.backfill SET begun_at = begun_at - interval '11 minutes'`);
  await refill('--repair');
  expect(await unlike(CHAIN)).toEqual([]);
  expect(suspectedOf(await audit(both))).toEqual([]);
});
