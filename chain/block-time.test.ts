import { expect, onTestFinished, test } from 'vitest';
import type { ChainConfig } from '../config/chains-schema.ts';
import { parseChainsFile } from '../config/load-chains.ts';
import { startAnvil } from '../devnet/anvil.ts';
import { connectDevChain } from '../devnet/dev-chain.ts';
import type { Logger } from '../runtime/logger.ts';
import { measureBlockTimes } from './block-time.ts';

/** A chain with a block each `secs` seconds: enough of them to measure. */
async function chainWithBlocks(secs: number): Promise<string> {
  const anvil = await startAnvil({ chainId: 31_337 });
  onTestFinished(() => anvil.stop());
  const { client } = await connectDevChain(anvil.url);
  await client.mine({ blocks: 80, interval: secs });
  return anvil.url;
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
  const url = await chainWithBlocks(2);
  expect(await paceOf(url, 2_000)).toEqual({ pacedByMs: 2_000, warnings: [] });
  expect(await paceOf(url, 1_600)).toEqual({ pacedByMs: 1_600, warnings: [] });
  for (const blockTimeMs of [750, 5_000]) {
    const { pacedByMs, warnings } = await paceOf(url, blockTimeMs);
    expect(pacedByMs).toBeGreaterThan(1_900);
    // The head may be a second late, of 80 blocks.
    expect(pacedByMs).toBeLessThan(2_050);
    expect(warnings).toEqual([{ chainId: 31_337, blockTimeMs, blocks: 80, meanMs: pacedByMs, pacedByMs }]);
  }
});

test('what is no block time, or not known, changes nothing', async () => {
  const url = await chainWithBlocks(60);
  const { pacedByMs, warnings } = await paceOf(url, 1_000);
  expect(pacedByMs).toBe(1_000);
  expect(warnings).toHaveLength(1);
  expect(await paceOf('http://127.0.0.1:1', 1_000)).toEqual({ pacedByMs: 1_000, warnings: [] });
});
