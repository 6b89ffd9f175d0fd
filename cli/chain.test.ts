import { chmod, lstat, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { type Address, encodeFunctionData } from 'viem';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { MULTICALL3 } from '../config/chains-schema.ts';
import { factoryOwnerAbi } from '../devnet/abi.ts';
import { type Anvil, startAnvil } from '../devnet/anvil.ts';
import { buildChainsFile } from '../devnet/chains-config.ts';
import { deployContract } from '../devnet/deploy.ts';
import { connectDevChain, send } from '../devnet/dev-chain.ts';
import { packedVariant } from '../devnet/packed/variants.ts';
import { createPool, evenBins, stopLossExtension } from '../devnet/pools.ts';
import { startRpcProxy } from '../devnet/rpc-proxy.ts';
import { runScenario, type Scenario } from '../devnet/scenario.ts';
import { ownMain } from '../local/services/own-process.ts';
import { createTempFolder, type TempFolder } from '../local/services/temp-folder.ts';
import { classesUnder } from '../test/metadata/pool-classes.ts';
import { complete } from './chain-add/complete-file.ts';
import type { Finding } from './config-check/finding.ts';

// Each command is a process of its own, and two indexers follow all that happened.
vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const CHAIN_ID = 31337;
/** A chain that the file has already; no request goes to its node. */
const OTHER = { chainId: 5, name: 'other', rpcUrls: ['http://127.0.0.1:1'], blockTimeMs: 1000, deployments: [] };

let folder: TempFolder;
let anvil: Anvil;
let scenario: Scenario;
let factories: readonly Address[];

beforeAll(async () => {
  [folder, anvil] = await Promise.all([createTempFolder('chain-add'), startAnvil({ chainId: CHAIN_ID })]);
  scenario = await runScenario({ rpcUrl: anvil.url, chainId: CHAIN_ID, packed: packedVariant('sumOnEdges') });
  factories = [scenario.deployment.poolFactory, scenario.packed?.poolFactory ?? '0x'];
});
afterAll(() => Promise.all([anvil.stop(), folder.remove()]));

const pathOf = (name: string) => join(folder.path, `${name}.json`);

async function add(path: string, parameters: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const args = [...ownMain('chain'), 'add', '--file', path, '--json', ...parameters];
  const { exitCode, stdout, stderr } = await execa(process.execPath, args, { env, reject: false, stdin: 'ignore' });
  return { exitCode, stderr, report: stdout === '' ? null : JSON.parse(stdout) };
}

const ofFactories = (addresses: readonly Address[]) => addresses.flatMap((address) => ['--factory', address]);

const handwritten = () =>
  buildChainsFile([{ chainId: CHAIN_ID, name: 'devnet', kind: 'ethereum', url: anvil.url, scenario }]);

test('under the entry that the chain shows, every pool has the tier and codes of the handwritten one', async () => {
  const [byHand, found] = [pathOf('by-hand'), pathOf('found')];
  const { chains, ...rest } = handwritten();
  await writeFile(byHand, JSON.stringify({ chains, ...rest }));
  await writeFile(found, JSON.stringify({ chains: [OTHER], ...rest }));
  const env = { RPC_OF_TEST: anvil.url };
  const named = ['--node', 'env:RPC_OF_TEST', '--ws', anvil.url.replace(/^http/, 'ws'), '--name', 'devnet'];
  const parameters = [...named, '--block-time', '1000', ...ofFactories(factories)];
  const { exitCode, stderr, report } = await add(found, parameters, env);
  expect([exitCode, stderr]).toEqual([0, '']);
  expect(report.node).toEqual({ stateOverrides: true, blockOverrides: true, traces: true, socket: true, parts: false });
  expect(report.findings.filter(({ problem }: Finding) => problem.includes('every pool'))).toEqual([]);

  const text = await readFile(found, 'utf8');
  const written = JSON.parse(text);
  expect({ ...written, chains: written.chains.slice(0, 1) }).toEqual({ chains: [OTHER], ...rest });
  expect(text).toBe(`${JSON.stringify(written, null, 2)}\n`);
  expect(written.chains[1]).toMatchObject({ chainId: CHAIN_ID, name: 'devnet', rpcUrls: ['env:RPC_OF_TEST'] });
  const [flat, packed] = written.chains[1].deployments;
  const { stopLoss, anchoredProviderFactories, fromBlock } = scenario.deployment;
  expect(flat).toMatchObject({ layout: 'flat', stopLoss, anchoredProviderFactories });
  // The file of the tests begins at the block before.
  expect(flat.fromBlock).toBe(fromBlock + 1);
  expect(packed).toMatchObject({ layout: 'packed', stopLoss: scenario.packed?.stopLoss });
  // A pool of the scenario has a contract of its own, which is no standard one.
  expect(text).not.toContain(scenario.deployment.removalLog);

  const again = await add(found, parameters, env);
  expect([again.exitCode, again.report.written, again.report.left]).toEqual([0, [], []]);
  expect(await readFile(found, 'utf8')).toBe(text);

  vi.stubEnv('RPC_OF_TEST', anvil.url);
  const expected = await classesUnder(byHand, scenario.pools.length);
  expect(new Set(expected.map((row) => row.tier))).toEqual(new Set(['green', 'yellow', 'red']));
  expect(await classesUnder(found, scenario.pools.length)).toEqual(expected);
  vi.unstubAllEnvs();
});

test('what a person wrote stays, and what the chain shows instead is said', async () => {
  const path = pathOf('kept');
  const stopLoss = `0x${'5'.repeat(40)}`;
  const deployment = { contractVersion: 'mine', layout: 'flat', fromBlock: 0, poolFactory: factories[0], stopLoss };
  // Keys of nodes are in the URLs, so that only the operator may read the file, which may be elsewhere.
  const keys = ['KEY_OF_ONE', 'KEY_OF_TWO'];
  const rpcUrls = keys.map((key) => `${anvil.url}/?key=${key}`);
  const wsUrls = rpcUrls.map((url) => url.replace(/^http/, 'ws'));
  const chain = { ...OTHER, chainId: CHAIN_ID, rpcUrls, wsUrls, deployments: [deployment] };
  await writeFile(path, JSON.stringify({ chains: [chain] }), { mode: 0o600 });
  const link = pathOf('link');
  await symlink(path, link);
  const { exitCode, report } = await add(link, ['--chain', String(CHAIN_ID)]);
  expect(exitCode).toBe(0);
  expect(JSON.stringify(report)).not.toContain('KEY_OF');
  expect([(await lstat(link)).isSymbolicLink(), (await stat(path)).mode & 0o777]).toEqual([true, 0o600]);
  const [written] = JSON.parse(await readFile(path, 'utf8')).chains;
  expect(written).toMatchObject({ ...chain, deployments: [deployment] });
  const { priceVelocityGuard, anchoredProviderFactories } = scenario.deployment;
  expect(written.deployments[0]).toMatchObject({ priceVelocityGuard, anchoredProviderFactories });
  const place = `${CHAIN_ID}.deployments.${factories[0]}`;
  expect(report.left).toEqual([
    { key: `${place}.fromBlock`, file: 0, found: 1 },
    { key: `${place}.stopLoss`, file: stopLoss, found: scenario.deployment.stopLoss },
  ]);
  expect(report.written).toContain(`${place}.priceVelocityGuard`);
});

test('of a URL that the file has otherwise, the scheme and the host are said', () => {
  const urls = (key: string) => ({ chainId: 1, rpcUrls: [`https://node.example/v2/${key}`], deployments: [] });
  const { left } = complete({ chains: [urls('KEY_OF_ONE')] }, urls('KEY_OF_TWO'));
  const shown = ['https://node.example'];
  expect(left).toEqual([{ key: '1.rpcUrls', file: shown, found: shown }]);
});

test('copies that others made are not written unless the operator trusts them, and their codes are said', async () => {
  const chain = await connectDevChain(anvil.url);
  const { untrusted } = chain.roles;
  const poolFactory = await deployContract(chain, 'PoolFactory');
  const copy = await deployContract(chain, 'StopLoss', [poolFactory], untrusted);
  const [pool] = scenario.pools;
  if (!pool) throw new Error('no pool');
  const { token0, token1, priceProvider } = pool;
  const deployer = await deployContract(chain, 'PoolDeployer', [poolFactory]);
  const own = { ...scenario.deployment, poolFactory, stopLoss: copy };
  const data = encodeFunctionData({ abi: factoryOwnerAbi, functionName: 'setPoolDeployer', args: [deployer] });
  await send(chain, { from: chain.roles.owner, to: poolFactory, data });
  await createPool(chain, own, {
    token0,
    token1,
    priceProvider,
    bins: evenBins(-1, 1, 1_000),
    initialAmount0PerShareE18: 10n ** 18n,
    initialAmount1PerShareE18: 10n ** 18n,
    extensions: [stopLossExtension(own, { drawdownE6: 10, decayPerSecondE8: 0, timelockSecs: 100 })],
  });
  const path = pathOf('copy');
  const parameters = ['--node', `${anvil.url}/?key=1`, '--block-time', '1000', '--factory', poolFactory];
  const { exitCode, report } = await add(path, parameters);
  expect(exitCode).toBe(0);
  expect(report.unwritten).toMatchObject([{ role: 'stopLoss', address: copy, isProven: false, pools: 1 }]);
  const problems = report.findings.map(({ problem }: Finding) => problem);
  expect(problems).toContainEqual(
    expect.stringContaining('no stopLoss in any deployment: every pool has stop_loss_missing'),
  );
  expect(problems).toContainEqual(expect.stringContaining('fiatPrices has no price of its tokens'));
  expect(await readFile(path, 'utf8')).not.toContain(copy);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  await chmod(path, 0o640);
  const trusting = await add(path, [...parameters, '--trust', copy]);
  expect((await stat(path)).mode & 0o777).toBe(0o640);
  expect(trusting.report.written).toEqual([`${CHAIN_ID}.deployments.${poolFactory}.stopLoss`]);
  expect(JSON.parse(await readFile(path, 'utf8')).chains[0].deployments[0].stopLoss).toBe(copy);
});

test('an unknown factory, a factory without pools and a node without history: one line each, and nothing is written', async () => {
  const path = pathOf('unknown');
  const run = (address: string, ...more: string[]) =>
    add(path, ['--node', anvil.url, '--block-time', '1000', '--factory', address, ...more]);
  const empty = `0x${'9'.repeat(40)}`;
  expect(await run(empty)).toMatchObject({ exitCode: 1, stderr: `factory ${empty}: it has no code` });
  const { stopLoss } = scenario.deployment;
  expect((await run(stopLoss)).stderr).toBe(`factory ${stopLoss}: it does not list its pools as a pool factory does`);
  const young = await deployContract(await connectDevChain(anvil.url), 'PoolFactory');
  expect((await run(young)).stderr).toBe(
    `factory ${young}: its newest pools answer like nothing: it has no pools: its layout is unknown, give --layout`,
  );
  const bare = await startAnvil({ chainId: 1 });
  const alone = await deployContract(await connectDevChain(bare.url), 'PoolFactory');
  const { stderr: lacking } = await add(path, ['--node', bare.url, '--block-time', '1000', '--factory', alone]);
  expect(lacking).toBe(`multicall3: ${MULTICALL3} has no code: name another one in the file`);
  await bare.stop();
  const other = await add(path, ['--node', anvil.url, '--chain', '1']);
  expect(other).toMatchObject({ exitCode: 1, stderr: `--chain: the node is of chain ${CHAIN_ID}` });
  expect(await add(path, [])).toMatchObject({
    exitCode: 1,
    stderr: '--node is missing, and there is no terminal to ask on',
  });

  const proxy = await startRpcProxy(anvil.url);
  const refusal = { kind: 'error', code: -32000, message: 'missing trie node' } as const;
  proxy.misbehave(refusal, ({ method, params }) => method === 'eth_getCode' && params[1] !== 'latest');
  const parameters = ['--node', proxy.url, '--block-time', '1000', '--factory', factories[0] ?? ''];
  expect((await add(path, parameters)).stderr).toContain('give --from-block, or a node that does');
  await expect(readFile(path)).rejects.toThrow('ENOENT');
  const { exitCode, report } = await add(path, [
    ...parameters,
    '--from-block',
    String(scenario.deployment.fromBlock + 1),
  ]);
  expect(exitCode).toBe(0);
  // The addresses show who made what pools use; blocks are needed for nothing but the account of the factory.
  expect(report.written).toContainEqual(expect.stringContaining('.stopLoss'));
  expect(report.written).toContainEqual(expect.stringContaining('.anchoredProviderFactories'));
  await proxy.stop();
});

test('on a terminal it asks for what is missing, again after a wrong answer', {
  skip: process.platform !== 'linux',
}, async () => {
  const path = pathOf('asked');
  const command = [process.execPath, ...ownMain('chain'), 'add', '--file', path, '--block-time', '1000'].join(' ');
  const terminal = execa('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    reject: false,
    timeout: 200_000,
  });
  const { deployment } = scenario;
  const answers: [question: string, answer: string][] = [
    ['URL of a node', 'nowhere'],
    ['not an http(s) URL', anvil.url],
    ['Name of the chain [chain-31337]', ''],
    ['Pool factories', deployment.poolFactory],
  ];
  let shown = '';
  terminal.stdout.on('data', (data) => {
    shown += data;
    const [next] = answers;
    if (!next || !shown.includes(next[0])) return;
    shown = '';
    answers.shift();
    terminal.stdin.write(`${next[1]}\n`);
  });
  const { exitCode } = await terminal;
  expect([exitCode, answers]).toEqual([0, []]);
  const [chain] = JSON.parse(await readFile(path, 'utf8')).chains;
  // Its URL has no room for a key.
  expect((await stat(path)).mode & 0o077).toBe(0o066 & ~process.umask());
  expect(chain).toMatchObject({ chainId: CHAIN_ID, name: 'chain-31337', rpcUrls: [anvil.url], blockTimeMs: 1000 });
  expect(chain.deployments).toMatchObject([{ stopLoss: deployment.stopLoss }]);
});
