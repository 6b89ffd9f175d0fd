import { decodeFunctionData, type Hex, parseTransaction } from 'viem';
import { expect, onTestFinished, test } from 'vitest';
import { startAnvil } from '../anvil.ts';
import { connectDevChain } from '../dev-chain.ts';
import { MessageReader } from '../live/live-forms.fixture.ts';
import { priceRegistryAbi } from '../live/registry.ts';
import { packedVariant } from '../packed/variants.ts';
import { runScenario } from '../scenario.ts';
import { startPartPrices } from './part-prices.ts';

const CHAIN_ID = 31_338;
const PARTS = 25;

interface Message {
  readonly params: {
    readonly result: {
      readonly index: number;
      readonly diff: { readonly transactions: readonly Hex[] };
      readonly metadata: { readonly block_number: number };
    };
  };
}

/** The bid that an update sets. */
function bidOf(transaction: Hex): bigint {
  const { data = '0x' } = parseTransaction(transaction);
  const { args } = decodeFunctionData({ abi: priceRegistryAbi, data });
  return args?.[2] ?? 0n;
}

test('prices move in each part, and one pool is better in the last part of a block', async () => {
  const anvil = await startAnvil({ chainId: CHAIN_ID, args: ['--order', 'fifo'] });
  onTestFinished(anvil.stop);
  const packed = packedVariant('sumOnEdges');
  const scenario = await runScenario({ rpcUrl: anvil.url, chainId: CHAIN_ID, packed, onlyTrading: true });
  const part = await startPartPrices(anvil.url, scenario, { seed: 1, blockSecs: 2 });
  onTestFinished(part.stop);
  const [source] = part.live.sources;
  if (source?.kind !== 'preconfirmed') throw new Error('the source shows no parts');
  const reader = await MessageReader.open(source.wsUrls?.[0] ?? '');
  reader.send({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newFlashblocks'] });
  await reader.next();
  const seen = new Set<bigint>();
  /** When a part of each block was seen first, Unix seconds. */
  const blocks = new Map<number, number>();
  for (let parts = 0; parts < PARTS; parts += 1) {
    const { params } = JSON.parse(await reader.next()) as Message;
    const { index, diff, metadata } = params.result;
    const [first = 0n, ...others] = diff.transactions.map(bidOf);
    expect(others).toEqual(others.map(() => others[0]));
    expect(others).toHaveLength(part.pools.length - 1);
    expect(first > (others[0] ?? 0n), `part ${index}`).toBe(index === 9);
    seen.add(first);
    if (!blocks.has(metadata.block_number)) blocks.set(metadata.block_number, Date.now() / 1_000);
  }
  expect(seen.size).toBeGreaterThan(PARTS / 2);
  expect(blocks.size).toBeGreaterThanOrEqual(3);
  // A block has the time at which it begins, however long its parts take.
  const [, [number, seenAt] = [0, 0]] = blocks;
  const { timestamp } = await (await connectDevChain(anvil.url)).client.getBlock({ blockNumber: BigInt(number) });
  expect(Math.abs(Number(timestamp) - seenAt)).toBeLessThan(10);
});
