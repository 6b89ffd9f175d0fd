import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { pino } from 'pino';
import { getContractAddress, zeroHash } from 'viem';
import { expect, test, vi } from 'vitest';
import { type FactoryFacts, readFactory } from '../../chain/discovery/read-factory.ts';
import { openRetryingRpc } from '../../chain/discovery/retrying-rpc.ts';
import { EXIT_RETRY } from '../../config/app-error.ts';
import { loadArtifact } from '../../devnet/artifacts.ts';
import { deployContract } from '../../devnet/deploy.ts';
import { connectDevChain, send } from '../../devnet/dev-chain.ts';
import { createPool, evenBins } from '../../devnet/pools.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { contractsOfIndex } from '../../indexer/discovery.ts';
import { ownEnvironment, ownMain } from '../../local/services/own-process.ts';
import { freePort } from '../../runtime/free-port.ts';
import { createLogger } from '../../runtime/logger.ts';
import { nameless, startedDiscoveryWorld } from './discovery-world.ts';

/* What an index finds behind nodes that fail, prune or refuse ranges, and among contracts that anyone made. */

vi.setConfig({ testTimeout: 240_000, hookTimeout: 240_000 });

const { world, fileWith, namelessChains, beforeProxy } = startedDiscoveryWorld();
const silent = createLogger('test', 'silent');

test('while a node fails no index is begun: one line, and the exit code for another start, which finds all', () =>
  beforeProxy(async (proxy, databaseUrl, database) => {
    const busy = { kind: 'text', status: 503, body: 'busy' } as const;
    proxy.misbehave(busy, ({ method }) => method === 'eth_getTransactionCount');
    const chains = await namelessChains(proxy.url);
    const path = join(world.folder, 'failing.json');
    const file = JSON.parse(await readFile(await fileWith('honest', nameless), 'utf8'));
    await writeFile(
      path,
      JSON.stringify({ ...file, chains: file.chains.map((it: object) => ({ ...it, rpcUrls: [proxy.url] })) }),
    );
    const env = ownEnvironment('indexer', {
      DATABASE_URL: databaseUrl,
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
    expect(found.map(({ address }) => address)).toContain(world.scenario.packed?.stopLoss);
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
    const chains = await namelessChains(narrow.url, { fromBlock: (world.scenario.packed?.fromBlock ?? 0) + 1 });
    const found = await contractsOfIndex({ database, schema: 'onchain_1' }, chains, logger, 8_000);
    expect(found.map(({ role, address }) => [role, address])).toContainEqual([
      'stopLoss',
      world.scenario.packed?.stopLoss,
    ]);
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

    const { client } = await connectDevChain(world.url);
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
  const chain = await connectDevChain(world.url);
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
  const target = { rpc: openRetryingRpc([world.url]), ...world.scenario.deployment };
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
    const chain = await connectDevChain(world.url);
    const [pool] = world.scenario.pools;
    if (!pool) throw new Error('no pool');
    for (let index = 1; index <= 45; index += 1) {
      const named = [1, 2, 3, 4, 5, 6, 7].map((slot) => `0x${String(index * 10 + slot).padStart(40, '7')}` as const);
      await createPool(chain, world.scenario.deployment, {
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
