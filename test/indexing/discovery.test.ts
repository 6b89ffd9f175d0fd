import { execa } from 'execa';
import pg from 'pg';
import { expect, test, vi } from 'vitest';
import { loadChainsFile } from '../../config/load-chains.ts';
import { completeChain, missingRoles } from '../../db/complete-chain.ts';
import { openDatabase } from '../../db/connection.ts';
import { contractsOfIndex } from '../../indexer/discovery.ts';
import { ownEnvironment, ownMain } from '../../local/services/own-process.ts';
import { PoolCatalog } from '../../quoting/pools/pool-catalog.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createMigratedDatabase } from '../harness/database.ts';
import { classesUnder } from '../metadata/pool-classes.ts';
import { CHAIN_ID, NAMED, nameless, startedDiscoveryWorld } from './discovery-world.ts';

/* The indexer finds standard extensions and provider factories that the chains file does not name. */

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const { world, fileWith } = startedDiscoveryWorld();

async function contractsOf(databaseUrl: string, chainsFile: string) {
  const env = ownEnvironment('status', { DATABASE_URL: databaseUrl, CHAINS_CONFIG: chainsFile });
  const { stdout } = await execa('node', [...ownMain('status'), '--contracts', '--json'], { env });
  return JSON.parse(stdout) as { factory: string; role: string; address: string; how: string }[];
}

/** Kinds of all extensions, as quotes have them. */
async function kindsUnder(databaseUrl: string, chainsFile: string) {
  const logger = createLogger('test', 'silent');
  const database = openDatabase(databaseUrl, 'ptd_api', logger, { max: 2 });
  const catalog = new PoolCatalog({
    database,
    chains: loadChainsFile(chainsFile).chains,
    logger,
    now: () => performance.now(),
  });
  const pools = (await catalog.table()).ofChain(CHAIN_ID);
  catalog.stop();
  await database.$client.end();
  return pools.map(({ address, extensions }) => [address, extensions.map(({ kind }) => kind)]).toSorted();
}

test('without names in the file, pools have the tiers, codes and kinds of extensions that they have with them', async () => {
  const byHand = await fileWith('by-hand', (deployment) => deployment);
  const discovered = await fileWith('discovered', (deployment) => ({ ...nameless(deployment), discover: true }));
  const pools = world.scenario.pools.length + 1;
  let kinds: unknown;
  const expected = await classesUnder(byHand, pools, async (url) => {
    kinds = await kindsUnder(url, byHand);
    const contracts = await contractsOf(url, byHand);
    expect(new Set(contracts.map(({ how }) => how))).toEqual(new Set(['the chains file names it']));
    const { rows } = await query(url, 'SELECT FROM operator.found_contract');
    expect(rows).toEqual([]);
  });
  expect(new Set(expected.map(({ tier }) => tier))).toEqual(new Set(['green', 'yellow', 'red']));
  const found = await classesUnder(discovered, pools, async (url) => {
    expect(await kindsUnder(url, discovered)).toEqual(kinds);
    const { deployment, packed } = world.scenario;
    const contracts = await contractsOf(url, discovered);
    const has = (role: string, address: string | undefined) =>
      expect(contracts).toContainEqual(
        expect.objectContaining({ role, address, how: expect.stringMatching(/^found: 0x[0-9a-f]{40} made it and/) }),
      );
    has('stopLoss', deployment.stopLoss);
    has('stopLoss', packed?.stopLoss);
    has('swapAllowlist', deployment.swapAllowlist);
    has('anchored', deployment.anchoredProviderFactory);
    has('regular_l2', deployment.regularL2ProviderFactory);
  });
  expect(found).toEqual(expected);
});

test('an index keeps what was found when it was begun, whatever the nodes show later', async () => {
  const { chains } = loadChainsFile(
    await fileWith('kept', (deployment) => ({ ...nameless(deployment), discover: true })),
  );
  const home = await createMigratedDatabase();
  const database = new pg.Pool({ connectionString: home.url, max: 2 });
  const found = (schema: string, of: typeof chains) =>
    contractsOfIndex({ database, schema }, of, createLogger('test', 'silent'));
  const first = await found('onchain_1', chains);
  expect(first.map(({ role }) => role)).toContain('stopLoss');
  await database.query('CREATE SCHEMA onchain_1; CREATE TABLE onchain_1._ponder_checkpoint ()');
  const unreachable = chains.map((chain) => ({ ...chain, rpcUrls: ['http://127.0.0.1:1'] }));
  expect(await found('onchain_1', unreachable)).toEqual(first);
  // An index of a release that found nothing stays as it is, too.
  await database.query('CREATE SCHEMA onchain_2; CREATE TABLE onchain_2._ponder_checkpoint ()');
  expect(await found('onchain_2', chains)).toEqual([]);
  await database.end();
  await home.drop();
});

test('what the file names stays, one list of provider factories is complete for its chain, and flat needs a word', async () => {
  const path = await fileWith('partial', ({ swapAllowlist: _, ...deployment }) => deployment);
  const [chain] = loadChainsFile(path).chains;
  if (!chain) throw new Error('no chain');
  expect(chain.deployments.map((deployment) => missingRoles(chain, deployment))).toEqual([[], ['swapAllowlist']]);
  const bare = await fileWith('bare', nameless);
  const [other] = loadChainsFile(bare).chains;
  if (!other) throw new Error('no chain');
  const all = [...NAMED, 'anchored', 'regular', 'regular_l2'];
  expect(other.deployments.map((deployment) => missingRoles(other, deployment))).toEqual([[], all]);
  const undiscovered = other.deployments.map((deployment) => ({ ...deployment, discover: false }));
  expect(undiscovered.flatMap((deployment) => missingRoles(other, deployment))).toEqual([]);
  const of = { chainId: CHAIN_ID, factory: other.deployments[1]?.poolFactory ?? '0x', maker: '0x01' } as const;
  const found = [...NAMED, 'anchored' as const].map((role) => ({ ...of, role, address: `0x${role.length}` as const }));
  const named = completeChain(chain, found);
  expect(named.deployments[0]).toEqual(chain.deployments[0]);
  expect(named.deployments[1]).toEqual({ ...chain.deployments[1], swapAllowlist: '0x13' });
  const completed = completeChain(other, found);
  expect(completed.deployments[0]).toEqual(other.deployments[0]);
  expect(completed.deployments[1]).toMatchObject({ stopLoss: '0x8', anchoredProviderFactories: ['0x8'] });
});

async function query(connectionString: string, text: string) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client.query(text).finally(() => client.end());
}
