import { type Address, numberToHex } from 'viem';
import { type PackedDeployment, packedStopLossExtension } from '../../devnet/packed/deploy.ts';
import { type FeeRule, packedVariant } from '../../devnet/packed/variants.ts';
import type { ExtensionSpec } from '../../devnet/pools.ts';
import { type RpcProxy, startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { binSharesSlot } from '../../protocol/layouts/storage.ts';
import { createTestPools, type PackedChain, startPackedChain } from '../../test/packed/packed-chain.ts';
import { bringAbout, ordinary } from '../../test/packed/packed-states.ts';
import { startQuoteWorld } from '../../test/quotes/quote-world.ts';
import { batchAtNewBlock, inMillions, measureNewBlock, newBlockCost } from './new-block.ts';
import { BINS_PER_SIDE, makeBenchPool } from './pools.ts';
import { startQuoteServer } from './start-server.ts';

const POOLS = 100;
const SHARES = 10n ** 18n;
/** The head, the two calls of prices, and that of transfers: what any pool takes at a new block. */
const READ_CALLS = 4;

type Extensions = (deployment: PackedDeployment) => readonly ExtensionSpec[];

const NO_GUARDS: Extensions = () => [];
const STOP_LOSS: Extensions = (deployment) => [
  packedStopLossExtension(deployment, { drawdownE6: 50_000, decayPerSecondE18: 0n, timelockSecs: 100 }),
];

/**
 * What pools with 60 bins a side cost whose fees are not public: a batch by formulas and by fits; and a pool of which every
 * level is simulated, the current bin one of the 60 of either side, and no swap having touched them yet.
 */
export async function measurePacked(): Promise<void> {
  const packedChain = await startPackedChain();
  const proxy = await startRpcProxy(packedChain.chain.rpcUrl);
  try {
    await measureRule(packedChain, proxy, 'sumOnEdges', 'packed pools, formulas verified', 5);
    await measureRule(packedChain, proxy, 'quotient', 'packed pools, all fitted', 20);
    await measureSimulated(packedChain, proxy, 'a pool all simulated', NO_GUARDS, 2);
    await measureSimulated(packedChain, proxy, 'the same with a stop loss', STOP_LOSS, 5);
    await measureFlat();
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
  const { addresses, deployment } = await makePools(packedChain, rule, POOLS, BINS_PER_SIDE, NO_GUARDS);
  const server = await startQuoteServer(proxy.url, deployment, addresses, 'packed');
  try {
    const bench = { chain: packedChain.chain, proxy, api: server.api };
    const first = await batchAtNewBlock(bench, addresses);
    process.stdout.write(`batch of ${POOLS} that are seen for the first time: ${Math.round(first)} ms\n`);

    await measureNewBlock(bench, `batch of ${POOLS} at a new block, ${name}`, addresses, target);
  } finally {
    await server.stop();
  }
}

async function measureSimulated(
  packedChain: PackedChain,
  proxy: RpcProxy,
  name: string,
  extensions: Extensions,
  target: number,
): Promise<void> {
  const { addresses, deployment } = await makePools(packedChain, 'growing', 1, BINS_PER_SIDE - 1, extensions);
  const server = await startQuoteServer(proxy.url, deployment, addresses, 'packed');
  try {
    const bench = { chain: packedChain.chain, proxy, api: server.api };
    await batchAtNewBlock(bench, addresses);
    const { calls, gas, times } = await newBlockCost(bench, addresses);
    process.stdout.write(
      `${name}: ${calls - READ_CALLS} calls (target <= ${target}) after ${READ_CALLS} of any pool, ` +
        `M gas of each ${gas.map(inMillions).join(', ')} (target < 50), ` +
        `${inMilliseconds(times)}\n`,
    );
  } finally {
    await server.stop();
  }
}

/** What a flat pool takes, to be put beside. */
async function measureFlat(): Promise<void> {
  const world = await startQuoteWorld();
  const proxy = await startRpcProxy(world.anvil.url);
  const pair = await world.pair(18, 6);
  const pools = { 'a flat pool': false, 'the same with a stop loss': true };
  try {
    for (const [name, isGuarded] of Object.entries(pools)) {
      const addresses = [await makeBenchPool(world, pair, isGuarded)];
      const server = await startQuoteServer(proxy.url, world.deployment, addresses);
      const bench = { chain: world.chain, proxy, api: server.api };
      await batchAtNewBlock(bench, addresses);
      const { calls, times } = await newBlockCost(bench, addresses);
      await server.stop();
      process.stdout.write(`${name}: ${calls - READ_CALLS} calls after ${READ_CALLS}, ${inMilliseconds(times)}\n`);
    }
  } finally {
    await proxy.stop();
    await world.stop();
  }
}

const inMilliseconds = (times: readonly number[]) => times.map((time) => `${Math.round(time)} ms`).join(', ');

/** Pools whose bins on both sides of the current one have shares, which a stop loss watches. */
async function makePools(
  packedChain: PackedChain,
  rule: FeeRule,
  count: number,
  farthest: number,
  extensions: Extensions,
) {
  const pairs = Array.from({ length: count }, () => [18, 6] as const);
  const range = [-farthest, farthest] as const;
  const pools = await createTestPools(packedChain, packedVariant(rule), pairs, range, extensions);
  for (const pool of pools) {
    await bringAbout(packedChain, pool, ordinary(pool));
    if (extensions === NO_GUARDS) continue;
    for (let bin = -farthest; bin <= farthest; bin++) {
      const [index, value] = [binSharesSlot(bin), numberToHex(SHARES, { size: 32 })];
      await packedChain.chain.client.setStorageAt({ address: pool.address, index, value });
    }
  }
  const [first] = pools;
  if (!first) throw new Error('no pools were made');
  return { addresses: pools.map(({ address }): Address => address), deployment: first.deployment };
}
