import { expect, onTestFinished, test } from 'vitest';
import { connectDevChain, findReceipt } from '../dev-chain.ts';
import { DEMO_CHAINS, openMarket, startChain } from './market.ts';

/** Of an hour. */
const ENOUGH_MINUTES = 25;

test('a market opens with an hour of trades up to now, in all busy pools', { timeout: 60_000 }, async () => {
  const [demo] = DEMO_CHAINS;
  if (!demo) throw new Error('the demo has no chain');
  const { url, stop } = await startChain(demo);
  onTestFinished(stop);
  const { scenario } = await openMarket(demo, url);
  const now = Date.now() / 1_000;
  const chain = await connectDevChain(url);
  const busy = new Map(scenario.pools.filter((pool) => pool.busy).map(({ address }) => [address, new Set<number>()]));
  const head = await chain.client.getBlock();
  expect(Math.abs(Number(head.timestamp) - now)).toBeLessThan(3);
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
  await chain.client.mine({ blocks: 1 });
  expect(Math.abs(Number((await chain.client.getBlock()).timestamp) - Date.now() / 1_000)).toBeLessThan(3);
});
