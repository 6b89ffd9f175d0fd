import { expect, type TestContext, test, vi } from 'vitest';
import { startAnvil } from '../anvil.ts';
import { connectDevChain, findReceipt } from '../dev-chain.ts';
import { request } from '../json-rpc.ts';
import { packedVariant } from '../packed/variants.ts';
import { runScenario } from '../scenario.ts';
import { startLivePrices } from './live-prices.ts';

const CHAIN_ID = 31_337;
const BLOCKS = 12n;
const EVENTUALLY = { timeout: 40_000, interval: 100 };

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

test.concurrent('trades land right behind the updates that they need, and not in every block', {
  timeout: 60_000,
}, async (context) => {
  const { part, chain } = await startedMarket(context);
  const first = await chain.client.getBlockNumber();
  await vi.waitFor(async () => expect(await chain.client.getBlockNumber()).toBe(first + BLOCKS), EVENTUALLY);
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

test.concurrent.for<[string, (url: string) => Promise<unknown>]>([
  ['mines blocks', (url) => request(url, 'anvil_mine', ['0x5'])],
  ['mines into the future', (url) => request(url, 'anvil_mine', ['0x2', '0x258'])],
  ['reorganises the chain', (url) => request(url, 'anvil_reorg', [3, []])],
])('when a user %s, trades go on to land', { timeout: 60_000 }, async ([, play], context) => {
  const { url, part, chain } = await startedMarket(context);
  const head = () => chain.client.getBlockNumber();
  const first = await head();
  await vi.waitFor(async () => expect(await head()).toBeGreaterThan(first + 4n), EVENTUALLY);
  await play(url);
  const played = await head();
  const reaches = async (number: bigint) => {
    await vi.waitFor(async () => expect(await head()).toBeGreaterThanOrEqual(number), EVENTUALLY);
    return performance.now();
  };
  const [from, to] = [played + 3n, played + 3n + BLOCKS / 2n];
  const startedAt = await reaches(from);
  // A block each slot, of a second.
  expect((await reaches(to)) - startedAt).toBeGreaterThan(4_000);
  const perBlock = new Set<number>();
  const pools = part.pools.length;
  // Nearly half of the blocks have no trades.
  for (let blockNumber = from; blockNumber <= to || !perBlock.has(2 * pools); blockNumber += 1n) {
    await reaches(blockNumber);
    const { transactions } = await chain.client.getBlock({ blockNumber });
    const receipts = await Promise.all(transactions.map((hash) => findReceipt(chain, hash)));
    expect(receipts.map((receipt) => receipt?.status)).toEqual(transactions.map(() => 'success'));
    perBlock.add(transactions.length);
  }
  expect(perBlock).toContain(2 * pools);
});
