import { expect, onTestFinished, test } from 'vitest';
import type { ChainConfig } from '../config/chains-schema.ts';
import { parseChainsFile } from '../config/load-chains.ts';
import { startAnvil } from '../devnet/anvil.ts';
import { connectDevChain } from '../devnet/dev-chain.ts';
import type { Logger } from '../runtime/logger.ts';
import { measureBlockTimes } from './block-time.ts';

/** How many blocks are measured. */
const BLOCKS = 256;

/**
 * A chain with a block each `secs` seconds, more of them than are measured.
 *
 * @returns its URL, and the mean time between those that are measured: slow mining adds seconds of its own
 */
async function chainWithBlocks(secs: number): Promise<{ readonly url: string; readonly meanMs: number }> {
  const anvil = await startAnvil({ chainId: 31_337 });
  onTestFinished(() => anvil.stop());
  const { client } = await connectDevChain(anvil.url);
  await client.mine({ blocks: BLOCKS + 10, interval: secs });
  const head = await client.getBlock();
  const { timestamp } = await client.getBlock({ blockNumber: head.number - BigInt(BLOCKS) });
  return { url: anvil.url, meanMs: Math.round((Number(head.timestamp - timestamp) * 1_000) / BLOCKS) };
}

/** The block time by which a chain is paced whose file says `blockTimeMs`, and what is logged. */
async function paceOf(url: string, blockTimeMs: number) {
  const deployment = { contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory: `0x${'1'.repeat(40)}` };
  const chain = { chainId: 31_337, name: 'one', rpcUrls: [url], blockTimeMs, deployments: [deployment] };
  const { chains } = parseChainsFile({ chains: [chain] }, 'test');
  const warnings: object[] = [];
  const logger = { warn: (line: object) => warnings.push(line) } as Pick<Logger, 'warn'> as Logger;
  const [paced] = await measureBlockTimes(chains as ChainConfig[], logger);
  return { pacedByMs: paced?.blockTimeMs, warnings };
}

test('a chain whose file is off by more than a third is paced by its headers, and that is logged', async () => {
  const { url, meanMs } = await chainWithBlocks(2);
  expect(await paceOf(url, 2_000)).toEqual({ pacedByMs: 2_000, warnings: [] });
  expect(await paceOf(url, 1_600)).toEqual({ pacedByMs: 1_600, warnings: [] });
  for (const blockTimeMs of [750, 5_000, 15_000]) {
    const logged = { chainId: 31_337, blockTimeMs, blocks: BLOCKS, meanMs, pacedByMs: meanMs };
    expect(await paceOf(url, blockTimeMs)).toEqual({ pacedByMs: meanMs, warnings: [logged] });
  }
});

test('an hour without blocks does not count, once blocks came again for a while', async () => {
  const { url } = await chainWithBlocks(2);
  const { client } = await connectDevChain(url);
  await client.increaseTime({ seconds: 3_600 });
  await client.mine({ blocks: 150, interval: 2 });
  const { pacedByMs } = await paceOf(url, 5_000);
  expect(pacedByMs).toBeLessThanOrEqual(5_000);
});

test('what is no block time, or not known, changes nothing', async () => {
  const { url } = await chainWithBlocks(60);
  const { pacedByMs, warnings } = await paceOf(url, 1_000);
  expect(pacedByMs).toBe(1_000);
  expect(warnings).toHaveLength(1);
  expect(await paceOf('http://127.0.0.1:1', 1_000)).toEqual({ pacedByMs: 1_000, warnings: [] });
});
