import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { deployToken } from '../devnet/actions.ts';
import { type Deployment, deployProtocol } from '../devnet/deploy.ts';
import { connectDevChain } from '../devnet/dev-chain.ts';
import { PACKED_VARIANTS } from '../devnet/packed/variants.ts';
import { createPool, evenBins } from '../devnet/pools.ts';
import { deployManualProvider } from '../devnet/providers.ts';
import { startRpcProxy } from '../devnet/rpc-proxy.ts';
import { type Anvil, startAnvil } from '../devnet/services/anvil.ts';
import { ownMain } from '../devnet/services/own-process.ts';
import { loginUrl } from '../devnet/services/process-logins.ts';
import { createTempFolder, type TempFolder } from '../devnet/services/temp-folder.ts';
import { Q64 } from '../protocol/fixed-point.ts';
import { createTestPools } from '../test/packed/packed-chain.ts';

// Each check is a process of its own, which a busy machine takes seconds to start.
vi.setConfig({ testTimeout: 180_000 });

const CHAIN_ID = 31337;

let folder: TempFolder;
let anvil: Anvil;
let deployment: Deployment;

beforeAll(async () => {
  [folder, anvil] = await Promise.all([createTempFolder('config-check'), startAnvil({ chainId: CHAIN_ID })]);
  deployment = await deployProtocol(anvil.url, CHAIN_ID);
});
afterAll(() => Promise.all([anvil.stop(), folder.remove()]));

async function check(parameters: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const args = [...ownMain('config-check'), ...parameters];
  const { exitCode, stdout, stderr } = await execa('node', args, { env, reject: false });
  return { exitCode, stdout, stderr };
}

/** A chains file of one chain, changed as given. */
async function fileWith(chain: Record<string, unknown> = {}, factories: Record<string, unknown> = {}) {
  const path = join(folder.path, `${Math.random()}.json`);
  const { poolFactory, fromBlock, anchoredProviderFactories, providerFactories } = deployment;
  const contracts = { poolFactory, fromBlock, anchoredProviderFactories, providerFactories, ...factories };
  const deployments = [{ contractVersion: 'v1', layout: 'flat', ...contracts }];
  const one = { chainId: CHAIN_ID, name: 'devnet', rpcUrls: [anvil.url], blockTimeMs: 1000, deployments, ...chain };
  await writeFile(path, JSON.stringify({ chains: [one] }));
  return path;
}

describe('without --rpc', () => {
  test('the file of the real chains is valid', async () => {
    expect(await check(['config/mainnet.json'])).toEqual({
      exitCode: 0,
      stdout: 'config/mainnet.json: 10 chains, no problem found',
      stderr: '',
    });
  });

  test('a login that may act as several processes is a warning, one of its own is not', async () => {
    const file = 'config/mainnet.json';
    const one = await check([file], { DATABASE_URL: inject('postgresUrl') });
    expect(one.exitCode).toBe(0);
    expect(one.stdout).toMatch(
      /^warning: DATABASE_URL: its login may act as ptd_indexer, ptd_capture, ptd_api, ptd_builders: /,
    );
    const own = await check([file, '--json'], { DATABASE_URL: loginUrl(inject('postgresUrl'), 'operator') });
    expect(JSON.parse(own.stdout)).toMatchObject({ findings: [], warnings: [] });
  });

  test('a wrong file is named with the field at fault, in one line', async () => {
    const path = await fileWith({ blockTimeMs: -1 });
    const { exitCode, stdout, stderr } = await check([path]);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^CHAINS_CONFIG \([^\n]+\): chains\.0\.blockTimeMs: [^\n]+$/);
    expect((await check(['/nowhere.json'])).stderr).toBe('CHAINS_CONFIG: cannot read /nowhere.json (ENOENT)');
  });

  test('no file at all is a missing setting', async () => {
    expect(await check([], { CHAINS_CONFIG: '' })).toMatchObject({
      exitCode: 1,
      stderr: 'CHAINS_CONFIG is not set: name a file or set it',
    });
  });
});

describe('with --rpc', () => {
  test('a chain that is what the file says passes, its URL from the environment', async () => {
    const path = await fileWith({ rpcUrls: ['env:RPC_OF_TEST'] });
    const { exitCode, stdout } = await check([path, '--rpc', '--json'], { RPC_OF_TEST: anvil.url });
    const { poolFactory: factory } = deployment;
    const empty = { pools: 0, answersLike: 'nothing: it has no pools', isAsConfigured: true };
    const factories = [{ chainId: CHAIN_ID, factory, layout: 'flat', ...empty }];
    expect([exitCode, JSON.parse(stdout)]).toEqual([0, { path, findings: [], factories, warnings: [] }]);
    expect(await check([path, '--rpc'], { RPC_OF_TEST: '' })).toMatchObject({
      exitCode: 1,
      stderr: `RPC_OF_TEST is not set: a URL of chain ${CHAIN_ID} comes from it`,
    });
  });

  test('a chain with another id, or without an answer, is found; a secret in a URL is not shown', async () => {
    const secret = 'api-key-in-the-query';
    const path = await fileWith({ chainId: 1, rpcUrls: [`${anvil.url}/?key=${secret}`, 'http://127.0.0.1:1/'] });
    const { exitCode, stdout, stderr } = await check([path, '--rpc', '--json']);
    expect([exitCode, stderr]).toEqual([1, '']);
    expect(JSON.parse(stdout).findings).toEqual([
      { chainId: 1, url: anvil.url, problem: `answers with chain id ${CHAIN_ID}` },
      { chainId: 1, url: 'http://127.0.0.1:1', problem: expect.stringMatching(/^does not answer: \w+$/) },
    ]);
    expect(stdout).not.toContain(secret);
  });

  test('factories without code are found, those of price providers too', async () => {
    const [pools, anchored, regular] = ['11', '22', '33'].map((byte) => `0x${byte.repeat(20)}`);
    const factories = {
      poolFactory: pools,
      anchoredProviderFactories: [anchored],
      providerFactories: [{ address: regular }],
    };
    const { exitCode, stdout } = await check([await fileWith({}, factories), '--rpc']);
    const found = [pools, anchored, regular].map((it) => `chain ${CHAIN_ID}, ${anvil.url}: no code at factory ${it}`);
    expect([exitCode, stdout]).toEqual([1, found.join('\n')]);
  });

  test('a node that does not find what transactions write is found where published updates are a source', async () => {
    const live = { sources: [{ kind: 'own' }] };
    const proxy = await startRpcProxy(anvil.url);
    proxy.misbehave(
      { kind: 'error', code: -32_601, message: 'not available' },
      ({ method }) => method === 'debug_traceCall',
    );
    const without = await check([await fileWith({ live, rpcUrls: [proxy.url] }), '--rpc']);
    expect(without.exitCode).toBe(1);
    expect(without.stdout).toContain(
      `chain ${CHAIN_ID}, ${proxy.url}: the live source \`own\` needs \`debug_traceCall\``,
    );
    const further = await fileWith({ live, rpcUrls: [proxy.url, anvil.url] });
    expect((await check([further, '--rpc'])).stdout).toContain('no problem found');
    expect((await check([await fileWith({ rpcUrls: [proxy.url] }), '--rpc'])).exitCode).toBe(0);
    await proxy.stop();
  });

  test('the newest pools of each factory report their layout; another than the file says is found', async () => {
    const chain = await connectDevChain(anvil.url);
    const variant = PACKED_VARIANTS.find(({ simulation }) => simulation === 'sender');
    if (!variant) throw new Error('no variant');
    const stop = () => anvil.stop();
    const [packed] = await createTestPools({ chain, stop }, variant, [[18, 6]]);
    const deployToken18 = (symbol: string) => deployToken(chain, { name: symbol, symbol, decimals: 18 });
    const pair = { token0: await deployToken18('A'), token1: await deployToken18('B') };
    await createPool(chain, deployment, {
      ...pair,
      priceProvider: await deployManualProvider(chain, pair, { bidX64: Q64, askX64: Q64 + 1n }),
      bins: evenBins(-1, 1, 1_000),
      initialAmount0PerShareE18: 10n ** 18n,
      initialAmount1PerShareE18: 10n ** 18n,
    });
    const flatFactory = deployment.poolFactory;
    const packedFactory = packed?.deployment.poolFactory ?? '0x';
    const fileOf = (flat: string, other: string) => {
      const release = { contractVersion: 'v1', fromBlock: 0 };
      return fileWith({
        deployments: [
          { ...release, layout: 'flat', poolFactory: flat },
          { ...release, layout: 'packed', poolFactory: other },
        ],
      });
    };
    const lines = (first: string, second: string) =>
      [first, second].map((line) => `chain ${CHAIN_ID}, factory ${line}\n`).join('');
    const like = '1 newest pools answer like';
    const inSender = 'packed (simulation: sender)';
    const right = await fileOf(flatFactory, packedFactory);
    expect(await check([right, '--rpc'])).toEqual({
      exitCode: 0,
      stderr: '',
      stdout: `${lines(`${flatFactory}: ${like} flat`, `${packedFactory}: ${like} ${inSender}`)}${right}: 1 chains, no problem found`,
    });
    const { exitCode, stdout } = await check([await fileOf(packedFactory, flatFactory), '--rpc']);
    const problem = (factory: string, found: string, not: string) =>
      `chain ${CHAIN_ID}, ${anvil.url}: pools of ${factory} answer like ${found}, not ${not}`;
    expect([exitCode, stdout]).toEqual([
      1,
      `${lines(`${packedFactory}: ${like} ${inSender}`, `${flatFactory}: ${like} flat`)}${[
        problem(packedFactory, inSender, 'flat'),
        problem(flatFactory, 'flat', 'packed'),
      ].join('\n')}`,
    ]);
  });
});
