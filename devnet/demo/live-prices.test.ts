import { expect, onTestFinished, test, vi } from 'vitest';
import { startAnvil } from '../anvil.ts';
import { connectDevChain, findReceipt } from '../dev-chain.ts';
import { packedVariant } from '../packed/variants.ts';
import { runScenario } from '../scenario.ts';
import { startLivePrices } from './live-prices.ts';

const CHAIN_ID = 31_337;
const BLOCKS = 12n;

test('trades land right behind the updates that they need, and not in every block', { timeout: 60_000 }, async () => {
  const { url, stop } = await startAnvil({ chainId: CHAIN_ID, args: ['--order', 'fifo'] });
  onTestFinished(stop);
  const packed = packedVariant('sumOnEdges');
  const scenario = await runScenario({ rpcUrl: url, chainId: CHAIN_ID, packed, onlyTrading: true });
  const part = await startLivePrices(url, scenario, { seed: 1, slotSecs: 1 });
  onTestFinished(part.stop);
  const chain = await connectDevChain(url);
  const first = await chain.client.getBlockNumber();
  await vi.waitFor(async () => expect(await chain.client.getBlockNumber()).toBe(first + BLOCKS), {
    timeout: 40_000,
    interval: 200,
  });
  const updaters = part.pools.map(({ maker }) => maker.address);
  const perBlock: number[] = [];
  for (let blockNumber = first + 1n; blockNumber <= first + BLOCKS; blockNumber += 1n) {
    const { transactions } = await chain.client.getBlock({ blockNumber, includeTransactions: true });
    const receipts = await Promise.all(transactions.map(({ hash }) => findReceipt(chain, hash)));
    expect(receipts.map((receipt) => receipt?.status)).toEqual(transactions.map(() => 'success'));
    const isUpdate = transactions.map(({ from }) => updaters.includes(from));
    expect(isUpdate).toEqual(transactions.map((_, index) => index % 2 === 0));
    perBlock.push(transactions.length);
  }
  // A trade in each pool, or nothing.
  expect(new Set(perBlock)).toEqual(new Set([0, 2 * part.pools.length]));
});
