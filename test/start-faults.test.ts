import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { startRpcProxy } from '../devnet/rpc-proxy.ts';
import { startService } from '../local/services/service-process.ts';
import {
  EVENTUALLY,
  type LocalChain,
  localCommand,
  readData,
  START_LIMIT_MS,
  startLocal,
  startLocalChain,
} from './harness/local-service.ts';

let chain: LocalChain;

beforeAll(async () => {
  chain = await startLocalChain({ onlyTrading: true });
});
afterAll(() => chain?.remove());

test('a chains file that changes again before its index is filled gets one all the same', {
  timeout: START_LIMIT_MS,
}, async () => {
  const proxy = await startRpcProxy(chain.anvil.url);
  onTestFinished(() => proxy.stop());
  const data = join(chain.temp, 'twice');
  const env = { RPC_OF_ONE: proxy.url };
  const file = JSON.parse(await readFile(chain.chains, 'utf8'));
  /** The same pools, from so many blocks later, before there are any. */
  const fileFrom = async (later: number): Promise<string> => {
    const copy = structuredClone(file);
    for (const deployment of copy.chains[0].deployments) deployment.fromBlock += later;
    const path = join(chain.temp, `from-${later}.json`);
    await writeFile(path, JSON.stringify(copy));
    return path;
  };
  await (await startLocal(chain, ['--chains', chain.chains, '--data', data], env)).stop();

  const until = Promise.withResolvers<void>();
  proxy.misbehave({ kind: 'held', until: until.promise }, ({ method }) => method === 'eth_getLogs');
  const second = await startService({
    ...localCommand('start', ['--chains', await fileFrom(1), '--data', data], env),
    ready: /backfill fills a new index/,
    startTimeoutMs: START_LIMIT_MS,
  });
  onTestFinished(second.stop);
  const indexes = () =>
    readData(data, "SELECT count(*) FROM pg_class WHERE relname = '_ponder_meta' AND relkind = 'r'");
  await vi.waitFor(async () => expect(await indexes()).toEqual({ count: '2' }), EVENTUALLY);
  await second.stop();
  until.resolve();
  proxy.misbehave(null);

  await startLocal(chain, ['--chains', await fileFrom(2), '--data', data], env);
  const filled = async () =>
    expect(await readFile(join(data, 'logs/backfill.log'), 'utf8')).toMatch(
      /Resuming "onchain_2".*Filling "onchain_2".*Readers are served from "onchain_2"/s,
    );
  await vi.waitFor(filled, EVENTUALLY);
  expect(await indexes()).toEqual({ count: '2' });
});
