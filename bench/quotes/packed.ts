import type { Address } from 'viem';
import { type FeeRule, packedVariant } from '../../devnet/packed/variants.ts';
import { type RpcProxy, startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { createTestPools, type PackedChain, startPackedChain } from '../../test/packed/packed-chain.ts';
import { bringAbout, ordinary } from '../../test/packed/packed-states.ts';
import { batchAtNewBlock, measureNewBlock } from './new-block.ts';
import { BINS_PER_SIDE } from './pools.ts';
import { startQuoteServer } from './start-server.ts';

const POOLS = 100;

/** What a batch of pools with 60 bins a side costs whose fees are not public: by formulas, and by fits. */
export async function measurePacked(): Promise<void> {
  const packedChain = await startPackedChain();
  const proxy = await startRpcProxy(packedChain.chain.rpcUrl);
  try {
    await measureRule(packedChain, proxy, 'sumOnEdges', 'packed pools, formulas verified', 4);
    await measureRule(packedChain, proxy, 'quotient', 'packed pools, all fitted', 18);
  } finally {
    await proxy.stop();
    await packedChain.stop();
  }
}

async function measureRule(
  packedChain: PackedChain,
  proxy: RpcProxy,
  rule: FeeRule,
  name: string,
  target: number,
): Promise<void> {
  const { addresses, deployment } = await makePools(packedChain, rule);
  const server = await startQuoteServer(proxy.url, deployment, addresses, 'packed');
  try {
    const bench = { chain: packedChain.chain, proxy, api: server.api };
    const first = await batchAtNewBlock(bench, addresses);
    process.stdout.write(`batch of ${POOLS} that are seen for the first time: ${Math.round(first)} ms\n`);

    await measureNewBlock(bench, `batch of ${POOLS} at a new block, ${name}`, addresses, target);
  } finally {
    server.process.kill('SIGTERM');
  }
}

async function makePools(packedChain: PackedChain, rule: FeeRule) {
  const pairs = Array.from({ length: POOLS }, () => [18, 6] as const);
  const pools = await createTestPools(packedChain, packedVariant(rule), pairs, [-BINS_PER_SIDE, BINS_PER_SIDE]);
  for (const pool of pools) await bringAbout(packedChain, pool, ordinary(pool));
  const [first] = pools;
  if (!first) throw new Error('no pools were made');
  return { addresses: pools.map(({ address }): Address => address), deployment: first.deployment };
}
