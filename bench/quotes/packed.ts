import type { Address } from 'viem';
import { PACKED_VARIANTS } from '../../devnet/packed/variants.ts';
import { type RpcProxy, startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { createTestPools, type PackedChain, startPackedChain } from '../../test/packed/packed-chain.ts';
import { bringAbout, ordinary } from '../../test/quotes/packed-states.ts';
import { batchAtNewBlock, measureNewBlock } from './new-block.ts';
import { BINS_PER_SIDE } from './pools.ts';
import { startQuoteServer } from './start-server.ts';

const POOLS = 100;
/** Formulas of ten pools are tried at a block. */
const BLOCKS_TO_VERIFY = POOLS / 10;

/** What a batch of pools with 60 bins a side costs whose fees are not public: by formulas, and by fits. */
export async function measurePacked(): Promise<void> {
  const packedChain = await startPackedChain();
  const proxy = await startRpcProxy(packedChain.chain.rpcUrl);
  try {
    await measureRule(packedChain, proxy, 'sumOnEdges', BLOCKS_TO_VERIFY, 'packed pools, formulas verified', 4);
    await measureRule(packedChain, proxy, 'quotient', BLOCKS_TO_VERIFY, 'packed pools, all fitted', 18);
  } finally {
    await proxy.stop();
    await packedChain.stop();
  }
}

async function measureRule(
  packedChain: PackedChain,
  proxy: RpcProxy,
  rule: string,
  blocksBefore: number,
  name: string,
  target: number,
): Promise<void> {
  const { addresses, deployment } = await makePools(packedChain, rule);
  const server = await startQuoteServer(proxy.url, deployment, addresses, 'packed');
  try {
    const bench = { chain: packedChain.chain, proxy, api: server.api };
    for (let block = 0; block < blocksBefore; block++) await batchAtNewBlock(bench, addresses);
    await measureNewBlock(bench, `batch of ${POOLS} at a new block, ${name}`, addresses, target);
  } finally {
    server.process.kill('SIGTERM');
  }
}

async function makePools(packedChain: PackedChain, rule: string) {
  const variant = PACKED_VARIANTS.find((one) => one.rule === rule);
  if (!variant) throw new Error(`no variant of the rule ${rule}`);
  const pairs = Array.from({ length: POOLS }, () => [18, 6] as const);
  const pools = await createTestPools(packedChain, variant, pairs, [-BINS_PER_SIDE, BINS_PER_SIDE]);
  for (const pool of pools) await bringAbout(packedChain, pool, ordinary(pool));
  const [first] = pools;
  if (!first) throw new Error('no pools were made');
  return { addresses: pools.map(({ address }): Address => address), deployment: first.deployment };
}
