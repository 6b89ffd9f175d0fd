import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import pg from 'pg';
import { pino } from 'pino';
import { getContractAddress, zeroHash } from 'viem';
import { beforeAll, expect, test, vi } from 'vitest';
import { type FactoryFacts, readFactory } from '../../chain/discovery/read-factory.ts';
import { openRetryingRpc } from '../../chain/discovery/retrying-rpc.ts';
import { EXIT_RETRY } from '../../config/app-error.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { loadChainsFile } from '../../config/load-chains.ts';
import { completeChain, missingRoles } from '../../db/complete-chain.ts';
import { openDatabase } from '../../db/connection.ts';
import { migrate } from '../../db/migrate.ts';
import { startAnvil } from '../../devnet/anvil.ts';
import { loadArtifact } from '../../devnet/artifacts.ts';
import { buildChainsFile } from '../../devnet/chains-config.ts';
import { deployContract } from '../../devnet/deploy.ts';
import { connectDevChain, send } from '../../devnet/dev-chain.ts';
import { packedVariant } from '../../devnet/packed/variants.ts';
import { createPool, evenBins, stopLossExtension } from '../../devnet/pools.ts';
import { type RpcProxy, startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { runScenario, type Scenario } from '../../devnet/scenario.ts';
import { contractsOfIndex } from '../../indexer/discovery.ts';
import { ownEnvironment, ownMain } from '../../local/services/own-process.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { PoolCatalog } from '../../quoting/pools/pool-catalog.ts';
import { freePort } from '../../runtime/free-port.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createDatabase, type TestDatabase } from '../harness/database.ts';
import { startedWorld } from '../harness/open-world.ts';
import { classesUnder } from '../metadata/pool-classes.ts';

/* The indexer finds standard extensions and provider factories that the chains file does not name. */

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const CHAIN_ID = 31337;
const NAMED = ['stopLoss', 'priceVelocityGuard', 'depositAllowlist', 'swapAllowlist'] as const;

const folder = startedWorld(() => createTempFolder('discovery'));
const anvil = startedWorld(() => startAnvil({ chainId: CHAIN_ID }));
let scenario: Scenario;

beforeAll(async () => {
  scenario = await runScenario({ rpcUrl: anvil.url, chainId: CHAIN_ID, packed: packedVariant('sumOnEdges') });
  // A pool whose stop loss has the code of the standard one.
  // Whoever made it may have written anything into its storage.
  const chain = await connectDevChain(anvil.url);
  const { poolFactory } = scenario.deployment;
  const copy = await deployContract(chain, 'StopLoss', [poolFactory], chain.roles.untrusted);
  const [pool] = scenario.pools;
  if (!pool) throw new Error('no pool');
  await createPool(chain, scenario.deployment, {
    ...pool,
    bins: evenBins(-1, 1, 1_000),
    initialAmount0PerShareE18: 10n ** 18n,
    initialAmount1PerShareE18: 10n ** 18n,
    extensions: [stopLossExtension({ ...scenario.deployment, stopLoss: copy })],
  });
});
type File = ReturnType<typeof buildChainsFile>;

/** A chains file of the scenario. @param change what is changed in each deployment */
async function fileWith(name: string, change: (deployment: File['chains'][number]['deployments'][number]) => object) {
  const file = buildChainsFile([{ chainId: CHAIN_ID, name: 'devnet', kind: 'ethereum', url: anvil.url, scenario }]);
  const chains = file.chains.map((chain) => ({ ...chain, deployments: chain.deployments.map(change) }));
  const path = join(folder.path, `${name}.json`);
  await writeFile(path, JSON.stringify({ ...file, chains }));
  return path;
}

const nameless = (deployment: object) =>
  Object.fromEntries(
    Object.entries(deployment).filter(
      ([key]) => !(NAMED as readonly string[]).includes(key) && !/Factories$/.test(key),
    ),
  );

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
  const [discovered, undiscovered] = await Promise.all([
    fileWith('discovered', (deployment) => ({ ...nameless(deployment), discover: true })),
    fileWith('undiscovered', (deployment) => ({ ...nameless(deployment), discover: false })),
  ]);
  const pools = scenario.pools.length + 1;
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
    const { deployment, packed } = scenario;
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
  const without = await classesUnder(undiscovered, pools);
  expect(without.filter(({ reason_codes }) => reason_codes.includes('stop_loss_missing')).length).toBe(pools);
  expect(without.filter(({ reason_codes }) => reason_codes.includes('app_missing')).length).toBe(pools);
});

test('an index keeps what was found when it was begun, whatever the nodes show later', async () => {
  const { chains } = loadChainsFile(
    await fileWith('kept', (deployment) => ({ ...nameless(deployment), discover: true })),
  );
  const home = await createDatabase();
  await migrate(home.url);
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
  const of = { chainId: CHAIN_ID, factory: other.deployments[1]?.poolFactory ?? '0x', maker: '0x01' } as const;
  const found = [...NAMED, 'anchored' as const].map((role) => ({ ...of, role, address: `0x${role.length}` as const }));
  const named = completeChain(chain, found);
  expect(named.deployments[0]).toEqual(chain.deployments[0]);
  expect(named.deployments[1]).toEqual({ ...chain.deployments[1], swapAllowlist: '0x13' });
  const completed = completeChain(other, found);
  expect(completed.deployments[0]).toEqual(other.deployments[0]);
  expect(completed.deployments[1]).toMatchObject({ stopLoss: '0x8', anchoredProviderFactories: ['0x8'] });
});

/** The chain of a file that names nothing, with another node and changed deployments. */
async function namelessChains(rpcUrl: string, change: object = {}): Promise<ChainConfig[]> {
  const path = await fileWith('nameless', (deployment) => ({ ...nameless(deployment), ...change }));
  return loadChainsFile(path).chains.map((chain) => ({ ...chain, rpcUrls: [rpcUrl] }));
}

/** Runs a test before a node that lies on demand, with a database of its own. */
async function beforeProxy(run: (proxy: RpcProxy, home: TestDatabase, database: pg.Pool) => Promise<void>) {
  const [proxy, home] = await Promise.all([startRpcProxy(anvil.url), createDatabase()]);
  await migrate(home.url);
  const database = new pg.Pool({ connectionString: home.url, max: 2 });
  await run(proxy, home, database);
  await database.end();
  await Promise.all([proxy.stop(), home.drop()]);
}

const silent = createLogger('test', 'silent');

test('while a node fails no index is begun: one line, and the exit code for another start, which finds all', () =>
  beforeProxy(async (proxy, home, database) => {
    const busy = { kind: 'text', status: 503, body: 'busy' } as const;
    proxy.misbehave(busy, ({ method }) => method === 'eth_getTransactionCount');
    const chains = await namelessChains(proxy.url);
    const path = join(folder.path, 'failing.json');
    const file = JSON.parse(await readFile(await fileWith('honest', nameless), 'utf8'));
    await writeFile(
      path,
      JSON.stringify({ ...file, chains: file.chains.map((it: object) => ({ ...it, rpcUrls: [proxy.url] })) }),
    );
    const env = ownEnvironment('indexer', {
      DATABASE_URL: home.url,
      CHAINS_CONFIG: path,
      PORT: String(await freePort()),
    });
    const ended = await execa('node', ownMain('indexer'), { env, reject: false });
    expect(ended.exitCode).toBe(EXIT_RETRY);
    const lines = ended.stderr.split('\n').filter((line) => !line.startsWith('{'));
    expect(lines).toEqual([
      expect.stringMatching(
        /^chain 31337: no index is begun, since its nodes did not show what pools of 0x\w{40} use .*: 127\.0\.0\.1:\d+ gave no answer to eth_getTransactionCount: status 503: busy$/,
      ),
    ]);
    expect((await database.query('SELECT FROM operator.found_contract')).rows).toEqual([]);
    proxy.misbehave(null);
    const found = await contractsOfIndex({ database, schema: 'onchain_1' }, chains, silent);
    expect(found.map(({ address }) => address)).toContain(scenario.packed?.stopLoss);
  }));

test('what nodes do not show in time is left out with a warning, and what is proven by then counts', () =>
  beforeProxy(async (proxy, _home, database) => {
    const refusal = { kind: 'error', code: -32_000, message: 'query exceeds max block range' } as const;
    const narrow = await startRpcProxy(proxy.url);
    narrow.misbehave(refusal, ({ method }) => method === 'eth_getLogs');
    // The creation of a provider is never shown; that of the factory need not be.
    proxy.misbehave({ kind: 'hanging' }, ({ method, params }) => method === 'eth_getCode' && params[1] !== 'latest');
    const lines: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
    const chains = await namelessChains(narrow.url, { fromBlock: (scenario.packed?.fromBlock ?? 0) + 1 });
    const found = await contractsOfIndex({ database, schema: 'onchain_1' }, chains, logger, 3_000);
    expect(found.map(({ role, address }) => [role, address])).toContainEqual(['stopLoss', scenario.packed?.stopLoss]);
    expect(found.map(({ role }) => role)).not.toContain('anchored');
    expect(lines).toContainEqual(
      expect.stringMatching(/"unsearchedProviders":[1-9].*nodes did not show, or not in time/),
    );
    await narrow.stop();
    // Nothing at all in time is a fault of the node.
    proxy.misbehave({ kind: 'hanging' });
    await expect(contractsOfIndex({ database, schema: 'onchain_2' }, chains, silent, 500)).rejects.toMatchObject({
      exitCode: EXIT_RETRY,
    });
  }));

/**
 * Whether a request is for code at a block below another,
 * as a node answers it that does not keep the state of old blocks.
 */
const isOldCode = (below: bigint) => (request: { readonly method: string; readonly params: readonly unknown[] }) => {
  const at = request.params[1];
  return request.method === 'eth_getCode' && typeof at === 'string' && at.startsWith('0x') && BigInt(at) < below;
};

test('a node that answers old code as if there were none shows no creation: its providers are counted, not missed', () =>
  beforeProxy(async (proxy, _home, database) => {
    const narrow = await startRpcProxy(proxy.url);
    const refusal = { kind: 'error', code: -32_000, message: 'query exceeds max block range' } as const;
    narrow.misbehave(refusal, ({ method, params: [filter] }) => {
      return method === 'eth_getLogs' && (filter as { fromBlock?: string }).fromBlock === '0x0';
    });
    const chains = await namelessChains(narrow.url, { discover: true });
    const [chain] = chains;
    const deployment = chain?.deployments[0];
    if (!deployment) throw new Error('no factory');
    const target = { ...chain, rpc: openRetryingRpc([narrow.url]) };
    const rolesOf = ({ contracts }: FactoryFacts) => contracts.map(({ role }) => role);

    const whole = await readFactory(target, deployment);
    expect(whole.created).not.toBeNull();
    expect(rolesOf(whole)).toContain('anchored');

    const { client } = await connectDevChain(anvil.url);
    const head = await client.getBlockNumber();
    for (const kept of [3n, 20n]) {
      proxy.misbehave({ kind: 'result', result: '0x' }, isOldCode(head - kept));
      const pruned = await readFactory(target, deployment);
      expect(pruned.created).toBeNull();
      expect(pruned.unsearchedProviders).toBeGreaterThan(whole.unsearchedProviders);
      expect(rolesOf(pruned)).not.toContain('anchored');
    }
    const lines: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line) => lines.push(line) });
    await contractsOfIndex({ database, schema: 'onchain_1' }, chains, logger);
    expect(lines).toContainEqual(expect.stringMatching(/"unsearchedProviders":[1-9].*nodes did not show/));
    await narrow.stop();
  }));

test('an account has not made what a proxy for CREATE2 made from its transaction', async () => {
  const chain = await connectDevChain(anvil.url);
  const { untrusted } = chain.roles;
  // Whoever sends the code of a factory first makes the true one, at the same address.
  const { bytecode } = loadArtifact('PoolFactory');
  const proxy = '0x4e59b44847b379578588920ca78fbf26c0b4956c';
  const byProxy = getContractAddress({ opcode: 'CREATE2', from: proxy, salt: zeroHash, bytecode });
  const { blockNumber } = await send(chain, {
    from: untrusted,
    to: proxy,
    data: `${zeroHash}${bytecode.slice(2)}`,
    gas: 12_000_000n,
  });
  const own = await deployContract(chain, 'PoolFactory', [], untrusted);
  const target = { rpc: openRetryingRpc([anvil.url]), ...scenario.deployment };
  const factsOf = (poolFactory: typeof own) => readFactory(target, { poolFactory, layout: 'flat' });
  expect(await factsOf(byProxy)).toMatchObject({ created: Number(blockNumber), maker: null });
  expect(await factsOf(own)).toMatchObject({ created: Number(blockNumber) + 1, maker: untrusted.toLowerCase() });
});

test('untrusted pools that name any number of contracts lengthen a start by few calls', () =>
  beforeProxy(async (proxy, _home, database) => {
    const refusal = { kind: 'error', code: -32_000, message: 'query exceeds max block range' } as const;
    proxy.misbehave(refusal, ({ method, params: [filter] }) => {
      const { fromBlock, toBlock } = (filter ?? {}) as { fromBlock?: string; toBlock?: string };
      return method === 'eth_getLogs' && fromBlock !== toBlock;
    });
    const chains = await namelessChains(proxy.url, { discover: true });
    const honest = await contractsOfIndex({ database, schema: 'onchain_1' }, chains, silent);
    expect(honest.map(({ role }) => role)).toEqual(expect.arrayContaining(['stopLoss', 'anchored', 'regular']));
    const before = proxy.requests.length;
    const chain = await connectDevChain(anvil.url);
    const [pool] = scenario.pools;
    if (!pool) throw new Error('no pool');
    for (let index = 1; index <= 45; index += 1) {
      const named = [1, 2, 3, 4, 5, 6, 7].map((slot) => `0x${String(index * 10 + slot).padStart(40, '7')}` as const);
      await createPool(chain, scenario.deployment, {
        ...pool,
        salt: `0x${String(index).padStart(64, '9')}`,
        bins: evenBins(-1, 1, 1_000),
        initialAmount0PerShareE18: 10n ** 18n,
        initialAmount1PerShareE18: 10n ** 18n,
        extensions: named.map((address) => ({ address, phases: ['afterSwap'] })),
        creator: chain.roles.untrusted,
      });
    }
    expect(await contractsOfIndex({ database, schema: 'onchain_2' }, chains, silent)).toEqual(honest);
    // They name 315 contracts; the code of 16 is looked at, and more blocks take a step more in each search.
    expect(proxy.requests.length - before).toBeLessThan(before + 60);
  }));

async function query(connectionString: string, text: string) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  return client.query(text).finally(() => client.end());
}
