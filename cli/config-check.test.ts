import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { deployToken } from '../devnet/actions.ts';
import { type Anvil, startAnvil } from '../devnet/anvil.ts';
import { type Deployment, deployProtocol } from '../devnet/deploy.ts';
import { connectDevChain } from '../devnet/dev-chain.ts';
import { PACKED_VARIANTS } from '../devnet/packed/variants.ts';
import { createPool, evenBins } from '../devnet/pools.ts';
import { deployManualProvider } from '../devnet/providers.ts';
import { startRpcProxy } from '../devnet/rpc-proxy.ts';
import { createTempFolder, type TempFolder } from '../local/services/temp-folder.ts';
import { Q64 } from '../protocol/fixed-point.ts';
import { createTestPools } from '../test/packed/packed-chain.ts';
import { runCheck, writeChain } from './config-check/run-check.fixture.ts';

// Each check is a process of its own, which a busy machine takes seconds to start.
vi.setConfig({ testTimeout: 180_000 });

const CHAIN_ID = 31337;

let folder: TempFolder;
let anvil: Anvil;
let deployment: Deployment;

beforeAll(async () => {
  [folder, anvil] = await Promise.all([createTempFolder('config-check'), startAnvil({ chainId: CHAIN_ID })]);
  deployment = await deployProtocol(anvil.url, CHAIN_ID);
  await mineAsFile();
});
afterAll(() => Promise.all([anvil.stop(), folder.remove()]));

/** Makes the blocks that are measured of the time that the file says. */
const mineAsFile = async () => (await connectDevChain(anvil.url)).client.mine({ blocks: 256, interval: 1 });

/** A deployment of the chains file without faults, changed as given. */
function deploymentWith(changes: Record<string, unknown> = {}) {
  const { poolFactory, stopLoss, priceVelocityGuard, anchoredProviderFactories, providerFactories } = deployment;
  const contracts = { poolFactory, stopLoss, priceVelocityGuard, anchoredProviderFactories, providerFactories };
  return { contractVersion: 'v1', layout: 'flat', fromBlock: 0, ...contracts, ...changes };
}

/** A chains file of one chain without faults, changed as given. */
async function fileWith(chain: Record<string, unknown> = {}, factories: Record<string, unknown> = {}) {
  return writeChain(folder, {
    chainId: CHAIN_ID,
    name: 'devnet',
    rpcUrls: [anvil.url, anvil.url],
    blockTimeMs: 1000,
    multicall3: deployment.multicall3,
    deployments: [deploymentWith(factories)],
    ...chain,
  });
}

/* With --rpc. The checks of one node are tried in `config-check/`. */

test('a chain that is what the file says passes, its URL from the environment', async () => {
  const path = await fileWith({ rpcUrls: ['env:RPC_OF_TEST', anvil.url] });
  const { exitCode, stdout } = await runCheck([path, '--rpc', '--json'], { RPC_OF_TEST: anvil.url });
  const { poolFactory: factory } = deployment;
  const empty = { pools: 0, answersLike: 'nothing: it has no pools', isAsConfigured: true };
  const factories = [{ chainId: CHAIN_ID, factory, layout: 'flat', ...empty }];
  expect([exitCode, JSON.parse(stdout)]).toEqual([0, { path, findings: [], factories }]);
  // The other node is called.
  const unset = await runCheck([path, '--rpc'], { RPC_OF_TEST: '' });
  expect([unset.exitCode, unset.stderr]).toEqual([1, '']);
  expect(unset.stdout.split('\n').slice(0, 2)).toEqual([
    `chain ${CHAIN_ID}, factory ${factory}: 0 newest pools answer like ${empty.answersLike}`,
    `error: chain ${CHAIN_ID}: RPC_OF_TEST is not set: a URL of chain ${CHAIN_ID} comes from it`,
  ]);
});

test('a chain with another id, or without an answer, is found; a secret in a URL is not shown', async () => {
  const secret = 'api-key-in-the-query';
  const path = await fileWith({ chainId: 1, rpcUrls: [`${anvil.url}/?key=${secret}`, 'http://127.0.0.1:1/'] });
  const { exitCode, stdout, stderr } = await runCheck([path, '--rpc', '--json']);
  expect([exitCode, stderr]).toEqual([1, '']);
  expect(JSON.parse(stdout).findings).toEqual([
    { level: 'error', chainId: 1, url: anvil.url, problem: `answers with chain id ${CHAIN_ID}` },
    // The first node answers, though for another chain.
    {
      level: 'warning',
      chainId: 1,
      url: 'http://127.0.0.1:1',
      problem: expect.stringMatching(/^does not answer: \w+$/),
      isSilent: true,
    },
  ]);
  expect(stdout).not.toContain(secret);
  const silent = await runCheck([await fileWith({ rpcUrls: ['http://127.0.0.1:1/'] }), '--rpc']);
  expect(silent.exitCode).toBe(1);
  expect(silent.stdout).toMatch(/^error: chain \d+, http:\/\/127.0.0.1:1: does not answer: \w+$/m);
});

test('factories without code are found, those of price providers too', async () => {
  const [pools, anchored, regular] = ['11', '22', '33'].map((byte) => `0x${byte.repeat(20)}`);
  const factories = {
    poolFactory: pools,
    anchoredProviderFactories: [anchored],
    providerFactories: [{ address: regular }],
  };
  const path = await fileWith({ rpcUrls: [anvil.url] }, factories);
  const { exitCode, stdout } = await runCheck([path, '--rpc']);
  const found = [pools, anchored, regular].map(
    (it) => `error: chain ${CHAIN_ID}, ${anvil.url}: no code at factory ${it}`,
  );
  const note = `note: chain ${CHAIN_ID}: one URL in rpcUrls: nothing replaces its node when that fails`;
  const last = `${path}: 1 chain, 3 errors, 0 warnings, 1 note`;
  expect([exitCode, stdout]).toEqual([1, [...found, note, last].join('\n')]);
});

test('a node that does not find what transactions write is found where published updates are a source', async () => {
  const live = { sources: [{ kind: 'own' }] };
  const proxy = await startRpcProxy(anvil.url);
  proxy.misbehave(
    { kind: 'error', code: -32_601, message: 'not available' },
    ({ method }) => method === 'debug_traceCall',
  );
  const without = await runCheck([await fileWith({ live, rpcUrls: [proxy.url] }), '--rpc']);
  expect(without.exitCode).toBe(1);
  expect(without.stdout).toContain(
    `error: chain ${CHAIN_ID}, ${proxy.url}: the live source \`own\` needs \`debug_traceCall\``,
  );
  const further = await fileWith({ live, rpcUrls: [proxy.url, anvil.url] });
  expect((await runCheck([further, '--rpc'])).stdout).toContain('no problem found');
  expect((await runCheck([await fileWith({ rpcUrls: [proxy.url] }), '--rpc'])).exitCode).toBe(0);
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
  await mineAsFile();
  const flatFactory = deployment.poolFactory;
  const packedFactory = packed?.deployment.poolFactory ?? '0x';
  const fileOf = (flat: string, other: string) => {
    const deployments = [
      deploymentWith({ layout: 'flat', poolFactory: flat }),
      deploymentWith({ layout: 'packed', poolFactory: other }),
    ];
    return fileWith({ deployments });
  };
  const lines = (first: string, second: string) =>
    [first, second].map((line) => `chain ${CHAIN_ID}, factory ${line}\n`).join('');
  const like = '1 newest pools answer like';
  const inSender = 'packed (simulation: sender)';
  const right = await fileOf(flatFactory, packedFactory);
  expect(await runCheck([right, '--rpc'])).toEqual({
    exitCode: 0,
    stderr: '',
    stdout: `${lines(`${flatFactory}: ${like} flat`, `${packedFactory}: ${like} ${inSender}`)}${right}: 1 chain, no problem found`,
  });
  const wrong = await fileOf(packedFactory, flatFactory);
  const { exitCode, stdout } = await runCheck([wrong, '--rpc']);
  const problem = (factory: string, found: string, not: string) =>
    `error: chain ${CHAIN_ID}, ${anvil.url}: pools of ${factory} answer like ${found}, not ${not}`;
  expect([exitCode, stdout]).toEqual([
    1,
    `${lines(`${packedFactory}: ${like} ${inSender}`, `${flatFactory}: ${like} flat`)}${[
      problem(packedFactory, inSender, 'flat'),
      problem(flatFactory, 'flat', 'packed'),
      `${wrong}: 1 chain, 2 errors, 0 warnings, 0 notes`,
    ].join('\n')}`,
  ]);
});
