import { expect, type TestContext, test, vi } from 'vitest';
import { startAnvil } from '../anvil.ts';
import { connectDevChain, type DevChain, findReceipt } from '../dev-chain.ts';
import { request } from '../json-rpc.ts';
import { packedVariant } from '../packed/variants.ts';
import { runScenario } from '../scenario.ts';
import { startLivePrices } from './live-prices.ts';

const CHAIN_ID = 31_337;
const BLOCKS = 12n;

/* Each has a chain of its own, and waits for its blocks. */

async function startedMarket({ onTestFinished }: TestContext) {
  const { url, stop } = await startAnvil({ chainId: CHAIN_ID, args: ['--order', 'fifo'] });
  onTestFinished(stop);
  const packed = packedVariant('sumOnEdges');
  const scenario = await runScenario({ rpcUrl: url, chainId: CHAIN_ID, packed, onlyTrading: true });
  const part = await startLivePrices(url, scenario, { seed: 1, slotSecs: 1 });
  onTestFinished(part.stop);
  return { url, part, chain: await connectDevChain(url) };
}

const reaches = (chain: DevChain, number: bigint) =>
  vi.waitFor(async () => expect(await chain.client.getBlockNumber()).toBeGreaterThanOrEqual(number));

test.concurrent('trades land right behind the updates that they need, and not in every block', async (context) => {
  const { part, chain } = await startedMarket(context);
  const first = await chain.client.getBlockNumber();
  const updaters = part.pools.map(({ maker }) => maker.address);
  const perBlock = new Set<number>();
  // Which blocks have no trades depends on the number of updates before them.
  for (let blockNumber = first + 1n; blockNumber <= first + BLOCKS || perBlock.size < 2; blockNumber += 1n) {
    await reaches(chain, blockNumber);
    const { transactions } = await chain.client.getBlock({ blockNumber, includeTransactions: true });
    const receipts = await Promise.all(transactions.map(({ hash }) => findReceipt(chain, hash)));
    expect(receipts.map((receipt) => receipt?.status)).toEqual(transactions.map(() => 'success'));
    const isUpdate = transactions.map(({ from }) => updaters.includes(from));
    expect(isUpdate).toEqual(transactions.map((_, index) => index % 2 === 0));
    perBlock.add(transactions.length);
  }
  // A trade in each pool, or nothing.
  expect(perBlock).toEqual(new Set([0, 2 * part.pools.length]));
});

test.concurrent.for<[string, (url: string) => Promise<unknown>]>([
  ['mines blocks', (url) => request(url, 'anvil_mine', ['0x5'])],
  ['mines into the future', (url) => request(url, 'anvil_mine', ['0x2', '0x258'])],
  ['reorganises the chain', (url) => request(url, 'anvil_reorg', [3, []])],
])('when a user %s, trades go on to land', async ([, play], context) => {
  const { url, part, chain } = await startedMarket(context);
  await reaches(chain, (await chain.client.getBlockNumber()) + 5n);
  await play(url);
  await reaches(chain, (await chain.client.getBlockNumber()) + 3n);
  const startedAt = performance.now();
  const from = await chain.client.getBlockNumber();
  const to = from + BLOCKS / 2n;
  await reaches(chain, to);
  const seconds = (performance.now() - startedAt) / 1_000;
  const { timestamp } = await chain.client.getBlock({ blockNumber: to });
  // A block each slot, of a second, unless a busy machine is behind them.
  expect(seconds > 4 || Number(timestamp) <= Date.now() / 1_000).toBe(true);
  const perBlock = new Set<number>();
  const pools = part.pools.length;
  // Nearly half of the blocks have no trades.
  for (let blockNumber = from; blockNumber <= to || !perBlock.has(2 * pools); blockNumber += 1n) {
    await reaches(chain, blockNumber);
    const { transactions } = await chain.client.getBlock({ blockNumber });
    const receipts = await Promise.all(transactions.map((hash) => findReceipt(chain, hash)));
    expect(receipts.map((receipt) => receipt?.status)).toEqual(transactions.map(() => 'success'));
    perBlock.add(transactions.length);
  }
  expect(perBlock).toContain(2 * pools);
});
