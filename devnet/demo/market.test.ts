import { expect, onTestFinished, test, vi } from 'vitest';
import { startAnvil } from '../anvil.ts';
import { connectDevChain, findReceipt } from '../dev-chain.ts';
import { startRpcProxy } from '../rpc-proxy.ts';
import { runScenario } from '../scenario.ts';
import { DEMO_CHAINS, openMarket, startChain, startTraffic } from './market.ts';

/** Of an hour. */
const ENOUGH_MINUTES = 25;

test('a market opens with an hour of trades up to now, in all busy pools', async () => {
  const [demo] = DEMO_CHAINS;
  if (!demo) throw new Error('the demo has no chain');
  const { url, stop } = await startChain(demo);
  onTestFinished(stop);
  const startedAt = Date.now() / 1_000;
  const { scenario } = await openMarket(demo, url);
  const now = Date.now() / 1_000;
  const chain = await connectDevChain(url);
  const busy = new Map(scenario.pools.filter((pool) => pool.busy).map(({ address }) => [address, new Set<number>()]));
  const head = await chain.client.getBlock();
  expect(Number(head.timestamp)).toBeGreaterThan(startedAt - 1);
  expect(Number(head.timestamp)).toBeLessThan(now + 1);
  /** Mines a block. Gives its time, and between which times of the real clock that was. */
  const mine = async () => {
    const after = Date.now() / 1_000;
    await chain.client.mine({ blocks: 1 });
    return { after, before: Date.now() / 1_000, time: Number((await chain.client.getBlock()).timestamp) };
  };
  const first = await mine();
  let [transactions, failed, last] = [0, 0, 0];
  for (let blockNumber = 0n; blockNumber <= head.number; blockNumber += 1n) {
    const block = await chain.client.getBlock({ blockNumber });
    const time = Number(block.timestamp);
    expect(time).toBeGreaterThanOrEqual(last);
    last = time;
    if (time < now - 3_605) continue;
    for (const hash of block.transactions) {
      const receipt = await findReceipt(chain, hash);
      transactions += 1;
      if (receipt?.status !== 'success') failed += 1;
      for (const { address } of receipt?.logs ?? []) busy.get(address)?.add(Math.floor(time / 60));
    }
  }
  expect(failed / transactions).toBeLessThan(0.2);
  for (const minutes of busy.values()) expect(minutes.size).toBeGreaterThanOrEqual(ENOUGH_MINUTES);
  // The chain's clock goes on as the real one does.
  const second = await mine();
  expect(second.time - first.time).toBeGreaterThan(second.after - first.before - 1);
  expect(second.time - first.time).toBeLessThan(second.before - first.after + 1);
});

test('traffic goes on whatever its chain refused for a while', async () => {
  const { url, stop } = await startAnvil({ chainId: 31_337 });
  onTestFinished(stop);
  const scenario = await runScenario({ rpcUrl: url, chainId: 31_337, onlyTrading: true });
  const proxy = await startRpcProxy(url);
  onTestFinished(() => proxy.stop());
  const part = await startTraffic(proxy.url, scenario, { seed: 1, rate: 100 });
  onTestFinished(part.stop);
  proxy.misbehave({ kind: 'error', code: -32_000, message: 'state is not available' });
  const asked = proxy.requests.length;
  await vi.waitFor(() => expect(proxy.requests.length).toBeGreaterThan(asked + 40));
  proxy.misbehave(null);
  const { client } = await connectDevChain(url);
  const refused = await client.getBlockNumber();
  await vi.waitFor(async () => expect(await client.getBlockNumber()).toBeGreaterThan(refused + 3n));
});
