import { type Address, numberToHex } from 'viem';
import { type PackedDeployment, packedStopLossExtension } from '../../devnet/packed/deploy.ts';
import { type FeeRule, packedVariant } from '../../devnet/packed/variants.ts';
import { type RpcProxy, startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { binSharesSlot } from '../../protocol/layouts/storage.ts';
import { createTestPools, type PackedChain, startPackedChain } from '../../test/packed/packed-chain.ts';
import { bringAbout, ordinary } from '../../test/packed/packed-states.ts';
import { startQuoteWorld } from '../../test/quotes/quote-world.ts';
import { print } from '../print.ts';
import type { FigureOf, Verdicts } from '../verdicts.ts';
import { batchAtNewBlock, inMilliseconds, measureNewBlock, newBlockCost } from './new-block.ts';
import { BINS_PER_SIDE, makeBenchPool } from './pools.ts';
import { serveQuotes } from './serve-quotes.ts';

const POOLS = 100;
const SHARES = 10n ** 18n;
/** The head, the two calls of prices, and that of transfers: what any pool takes at a new block. */
const READ_CALLS = 4;

const stopLoss = (deployment: PackedDeployment) => [
  packedStopLossExtension(deployment, { drawdownE6: 50_000, decayPerSecondE18: 0n, timelockSecs: 100 }),
];

interface Run extends PackedChain {
  readonly proxy: RpcProxy;
  readonly verdicts: Verdicts<'quotes'>;
}

interface Case {
  readonly name: string;
  readonly figure: FigureOf<'quotes'>;
}

/**
 * What pools with 60 bins a side cost whose fees are not public: a batch by formulas and by fits; and a pool of which
 * every level is simulated, the current bin one of the 60 of either side, and no swap having touched them yet.
 */
export async function measurePacked(verdicts: Verdicts<'quotes'>): Promise<void> {
  await using ends = new AsyncDisposableStack();
  const packedChain = await startPackedChain();
  ends.defer(packedChain.stop);
  const proxy = await startRpcProxy(packedChain.chain.rpcUrl);
  ends.defer(proxy.stop);
  const run = { ...packedChain, proxy, verdicts };
  const fitted: Case = { name: 'packed pools, all fitted', figure: 'calls, packed by fit' };
  await measureRule(run, 'sumOnEdges', { name: 'packed pools, formulas verified', figure: 'calls, packed by formula' });
  await measureRule(run, 'quotient', fitted);
  await measureSimulated(run, false, { name: 'a pool all simulated', figure: 'calls, simulated packed pool' });
  await measureSimulated(run, true, { name: 'the same with a stop loss', figure: 'calls, simulated with stop loss' });
  await measureFlat(verdicts);
}

async function measureRule(run: Run, rule: FeeRule, { name, figure }: Case): Promise<void> {
  await using ends = new AsyncDisposableStack();
  const { pools, deployment } = await makePools(run, { rule, count: POOLS, farthest: BINS_PER_SIDE });
  const server = await serveQuotes({ rpcUrl: run.proxy.url, deployment, pools, layout: 'packed' });
  ends.defer(server.stop);
  const bench = { ...run, api: server.api };
  const first = await batchAtNewBlock(bench, pools);
  print(`batch of ${POOLS} that are seen for the first time: ${Math.round(first)} ms`);
  await measureNewBlock(bench, pools, { name: `batch of ${POOLS} at a new block, ${name}`, figure });
}

async function measureSimulated(run: Run, isGuarded: boolean, { name, figure }: Case): Promise<void> {
  const shape = { rule: 'growing', count: 1, farthest: BINS_PER_SIDE - 1, isGuarded } as const;
  await using ends = new AsyncDisposableStack();
  const { pools, deployment } = await makePools(run, shape);
  const server = await serveQuotes({ rpcUrl: run.proxy.url, deployment, pools, layout: 'packed' });
  ends.defer(server.stop);
  const bench = { ...run, api: server.api };
  await batchAtNewBlock(bench, pools);
  const cost = await newBlockCost(bench, pools);
  const [calls, gas] = [cost.calls - READ_CALLS, cost.gas.map((each) => each / 1e6)];
  print(
    `${name}: ${calls} calls (${run.verdicts.line(figure, calls)}) after ${READ_CALLS} of any pool, ` +
      `M gas of each ${gas.map((each) => each.toFixed(1)).join(', ')} ` +
      `(${run.verdicts.line('gas of a call, M', Math.max(...gas))}), ${inMilliseconds(cost.times)}`,
  );
}

/** What a flat pool takes, to be put beside. */
async function measureFlat(verdicts: Verdicts<'quotes'>): Promise<void> {
  await using ends = new AsyncDisposableStack();
  const world = await startQuoteWorld();
  ends.defer(world.stop);
  const proxy = await startRpcProxy(world.anvil.url);
  ends.defer(proxy.stop);
  const { chain, deployment } = world;
  const pair = await world.pair(18, 6);
  for (const [name, isGuarded] of [['a flat pool', false] as const, ['the same with a stop loss', true] as const]) {
    const pools = [await makeBenchPool(world, pair, isGuarded)];
    const server = await serveQuotes({ rpcUrl: proxy.url, deployment, pools });
    ends.defer(server.stop);
    const bench = { chain, proxy, api: server.api, verdicts };
    await batchAtNewBlock(bench, pools);
    const { calls, times } = await newBlockCost(bench, pools);
    print(`${name}: ${calls - READ_CALLS} calls after ${READ_CALLS}, ${inMilliseconds(times)}`);
  }
}

interface PoolShape {
  readonly rule: FeeRule;
  readonly count: number;
  /** Bins on each side of the current one. */
  readonly farthest: number;
  /** With a stop loss, and shares in all bins, which it watches. */
  readonly isGuarded?: boolean;
}

/** Pools whose bins on both sides of the current one are full. */
async function makePools(packedChain: PackedChain, { rule, count, farthest, isGuarded = false }: PoolShape) {
  const pairs = Array.from({ length: count }, () => [18, 6] as const);
  const range = [-farthest, farthest] as const;
  const guards = isGuarded ? stopLoss : () => [];
  const pools = await createTestPools(packedChain, packedVariant(rule), pairs, range, guards);
  for (const pool of pools) {
    await bringAbout(packedChain, pool, ordinary(pool));
    for (let bin = -farthest; isGuarded && bin <= farthest; bin++) {
      const [index, value] = [binSharesSlot(bin), numberToHex(SHARES, { size: 32 })];
      await packedChain.chain.client.setStorageAt({ address: pool.address, index, value });
    }
  }
  const [first] = pools;
  if (!first) throw new Error('no pools were made');
  return { pools: pools.map(({ address }): Address => address), deployment: first.deployment };
}
