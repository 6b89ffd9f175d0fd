import { type Address, encodeFunctionData, type Hex } from 'viem';
import { toQuote } from '../../api/quotes/quote-body.ts';
import { openChainRpc, type ReportedHead } from '../../chain/chain-rpc.ts';
import { oracleAbi } from '../../devnet/abi.ts';
import { swapCall } from '../../devnet/actions.ts';
import { submit } from '../../devnet/dev-chain.ts';
import { evenBins, stopLossExtension } from '../../devnet/pools.ts';
import { factoryAbi } from '../../devnet/protocol-abi.ts';
import type { ServedPool } from '../../quoting/pools/pool-directory.ts';
import { createPoolReader } from '../../quoting/reads/create-pool-reader.ts';
import { createLogger } from '../../runtime/logger.ts';
import {
  chainConfig,
  evenShares,
  makePool,
  priceX64,
  type QuoteWorld,
  SHARES_OF_ONE,
  startQuoteWorld,
  type WorldPool,
} from '../quotes/quote-world.ts';
import { servedPool } from '../quotes/served-pool.ts';
import { comparable } from './truth.ts';

const CHAIN_ID = 31_337;
const PRICE = 2_000;
const GAS = 1_000_000n;

/** A chain of which each block changes each pool: its price, its bins and balances, or whether it is paused. */
export interface MovingChain {
  readonly url: string;
  /** The first one, which no guard reads calls for; one with a stop loss; one that is paused in every other block. */
  readonly pools: readonly [ServedPool, ServedPool, ServedPool];
  mine(): Promise<{ readonly number: bigint; readonly hash: Hex }>;
  /** What the chain says of the pools at a block, asked now; text by address. */
  quotesAt(hash: Hex): Promise<ReadonlyMap<string, string>>;
  stop(): Promise<void>;
}

export async function startMovingChain(): Promise<MovingChain> {
  const world = await startQuoteWorld(CHAIN_ID);
  const { chain, deployment, anvil } = world;
  const pair = await world.pair(18, 6);
  const spec = { pair, price: PRICE, bins: evenBins(-3, 3, 1_000), shares: evenShares(-3, 3, SHARES_OF_ONE) };
  const guard = stopLossExtension(deployment, { drawdownE6: 200_000, decayPerSecondE8: 0, timelockSecs: 100 });
  const free = await makePool(world, spec);
  const guarded = await makePool(world, { ...spec, extensions: [guard] });
  const paused = await makePool(world, spec);
  const served = ({ address }: WorldPool) => servedPool(chain, deployment, address);
  const pools = [await served(free), await served(guarded), await served(paused)] as const;
  await chain.client.setAutomine(false);
  let turn = 0;
  return {
    url: anvil.url,
    pools,
    async mine() {
      turn += 1;
      for (const pool of [free, guarded, paused]) await submitPrice(world, pool, PRICE + (turn % 17) / 4);
      for (const { address } of [free, guarded]) await submitSwap(world, address, turn);
      await submitPause(world, paused.address, turn % 2 === 1);
      await chain.client.mine({ blocks: 1 });
      return chain.client.getBlock();
    },
    async quotesAt(hash) {
      const { number, timestamp, parentHash } = await chain.client.getBlock({ blockHash: hash });
      const head = { block: { number, hash, timestamp, parents: [parentHash] }, endpoint: null };
      return readAlone(anvil.url, head, pools);
    },
    stop: world.stop,
  };
}

function submitPrice({ chain, deployment }: QuoteWorld, { feed }: WorldPool, price: number): Promise<Hex> {
  const args = [feed, priceX64(price), 10n ** 14n] as const;
  const data = encodeFunctionData({ abi: oracleAbi, functionName: 'post', args });
  return submit(chain, { from: chain.roles.owner, to: deployment.oracle, data, gas: GAS });
}

/** There and back again, and never the same amount. */
function submitSwap({ chain, deployment }: QuoteWorld, pool: Address, turn: number): Promise<Hex> {
  const zeroForOne = turn % 2 === 0;
  const amountSpecified = BigInt(1_000 + turn) * (zeroForOne ? 10n ** 13n : 20_000n);
  return submit(chain, { ...swapCall(chain, deployment, { pool, zeroForOne, amountSpecified }), gas: GAS });
}

function submitPause({ chain, deployment }: QuoteWorld, pool: Address, isPaused: boolean): Promise<Hex> {
  const functionName = isPaused ? 'pausePool' : 'unpausePool';
  const data = encodeFunctionData({ abi: factoryAbi, functionName, args: [pool] });
  return submit(chain, { from: chain.roles.curator, to: deployment.poolFactory, data, gas: GAS });
}

/** By a reader that knows nothing yet. */
async function readAlone(url: string, head: ReportedHead, pools: readonly ServedPool[]): Promise<Map<string, string>> {
  const config = chainConfig(CHAIN_ID, [url]);
  const heads = {
    head: () => Promise.reject(new Error('the block was refused')),
    caughtUp: async () => false,
    confirm: () => undefined,
    reject: () => true,
  };
  const logger = createLogger('test', 'silent');
  const reader = createPoolReader({
    target: { ...config, rpc: openChainRpc(config, 10_000) },
    heads,
    observer: {},
    simulatedPoolsPerRead: 0,
    readTimeoutMs: 30_000,
    logger,
    wallClock: () => Date.now(),
  });
  const quotes = pools.map(async (pool) => {
    const quote = toQuote(await reader.depth(head, await reader.prices(head, { pool })));
    return [pool.address, comparable(quote, true)] as const;
  });
  return new Map(await Promise.all(quotes));
}
