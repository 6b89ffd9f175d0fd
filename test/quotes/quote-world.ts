import { randomBytes } from 'node:crypto';
import { type Address, type Hex, toHex } from 'viem';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { QuotesConfig } from '../../config/quotes-schema.ts';
import { ReadBudgetConfig, WarmBudgetConfig } from '../../config/read-budget-schema.ts';
import { addLiquidity, deployToken, fundAccounts, swap } from '../../devnet/actions.ts';
import { type Anvil, startAnvil } from '../../devnet/anvil.ts';
import { type Deployment, deployProtocol } from '../../devnet/deploy.ts';
import { connectDevChain, type DevChain } from '../../devnet/dev-chain.ts';
import { createPool, type ExtensionSpec, evenBins, stopLossExtension } from '../../devnet/pools.ts';
import { deployAnchoredProvider, feedId, setFeedPrice } from '../../devnet/providers.ts';
import { Q64 } from '../../protocol/fixed-point.ts';
import type { BinShape } from '../../protocol/pool-events.ts';
import type { QuoteOptions } from '../../quoting/chain-bounds.ts';
import { openWorld } from '../harness/open-world.ts';

/** A chain with the protocol on it, to make pools on. */
export interface QuoteWorld {
  readonly anvil: Anvil;
  readonly chain: DevChain;
  readonly deployment: Deployment;
  /** A pair of funded tokens with these decimals, in pool order. */
  pair(decimals0: number, decimals1: number): Promise<Pair>;
  stop(): Promise<void>;
}

export interface Pair {
  readonly token0: Address;
  readonly token1: Address;
  readonly decimals0: number;
  readonly decimals1: number;
}

export interface WorldPool {
  readonly address: Address;
  readonly feed: Hex;
}

export interface WorldPoolSpec {
  readonly pair: Pair;
  /** Default: seven of 1,000 millionths, the cursor in the middle. */
  readonly bins?: readonly BinShape[];
  /** token1 per whole token0. */
  readonly price: number;
  /** Shares given to each bin; a bin that is left out has none. Default: `SHARES_OF_ONE` to all. */
  readonly shares?: ReadonlyMap<number, bigint>;
  readonly notionalFeeE8?: number;
  readonly curBinDistE6?: number;
  readonly extensions?: readonly ExtensionSpec[];
  /** Default: random. With the same one, both chains have the pool at the same address. */
  readonly salt?: Hex;
}

/** With these shares a bin of an empty pool holds one whole token0, or its price in token1. */
export const SHARES_OF_ONE = 10n ** 18n;
const WHOLE_TOKENS = 10n ** 15n;
/** What fits the gas of one transaction. */
const BINS_PER_TRANSACTION = 15;

export async function startQuoteWorld(chainId = 31337, args: readonly string[] = []): Promise<QuoteWorld> {
  const anvil = await startAnvil({ chainId, args });
  try {
    const chain = await connectDevChain(anvil.url);
    const deployment = await deployProtocol(anvil.url, chainId);
    return { anvil, chain, deployment, pair: (d0, d1) => createPair(chain, deployment, d0, d1), stop: anvil.stop };
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}

/**
 * The chain of one test file or suite, and what `make` makes on it before its tests, by other names than the world's.
 */
export function quoteWorld<T extends object = object>(
  make?: (world: QuoteWorld, ends: AsyncDisposableStack) => Promise<T>,
): Readonly<QuoteWorld & Omit<T, keyof QuoteWorld>> {
  return openWorld(async (ends) => {
    const world = await startQuoteWorld();
    ends.defer(world.stop);
    return { ...((await make?.(world, ends)) as T), ...world };
  });
}

/** A token of which providers and traders have plenty. */
export async function createFundedToken(
  chain: DevChain,
  deployment: Parameters<typeof fundAccounts>[1],
  decimals: number,
): Promise<Address> {
  const token = await deployToken(chain, { name: `T${decimals}`, symbol: `T${decimals}`, decimals });
  const accounts = [chain.roles.provider, chain.roles.trader];
  await fundAccounts(chain, deployment, token, { accounts, amount: WHOLE_TOKENS * 10n ** BigInt(decimals) });
  return token;
}

async function createPair(
  chain: DevChain,
  deployment: Deployment,
  decimals0: number,
  decimals1: number,
): Promise<Pair> {
  const token0 = await createFundedToken(chain, deployment, decimals0);
  const token1 = await createFundedToken(chain, deployment, decimals1);
  return { token0, token1, decimals0, decimals1 };
}

/** Makes a pool behind a protected provider with its own feed, and fills its bins. */
export async function makePool({ chain, deployment }: QuoteWorld, spec: WorldPoolSpec): Promise<WorldPool> {
  const { pair, bins = evenBins(-3, 3, 1_000) } = spec;
  const shares = spec.shares ?? new Map(bins.map(({ bin }) => [bin, SHARES_OF_ONE]));
  const feed = feedId(`F/${toHex(randomBytes(8)).slice(2)}`);
  await setFeedPrice(chain, deployment, { feedId: feed, priceX64: priceX64(spec.price) });
  const priceProvider = await deployAnchoredProvider(chain, deployment, {
    ...pair,
    baseFeedId: feed,
    maxRefStaleness: 10n ** 9n,
  });
  const address = await createPool(chain, deployment, {
    token0: pair.token0,
    token1: pair.token1,
    priceProvider,
    bins,
    initialAmount0PerShareE18: 10n ** BigInt(pair.decimals0),
    initialAmount1PerShareE18: (BigInt(Math.round(spec.price * 1e6)) * 10n ** BigInt(pair.decimals1)) / 1_000_000n,
    adminNotionalFeeE8: spec.notionalFeeE8 ?? 0,
    curBinDistFromProvidedPriceE6: spec.curBinDistE6 ?? 0,
    extensions: spec.extensions ?? [],
    salt: spec.salt ?? toHex(randomBytes(32)),
  });
  const added = [...shares].map(([bin, count]) => ({ bin, shares: count })).filter((each) => each.shares > 0n);
  for (let start = 0; start < added.length; start += BINS_PER_TRANSACTION) {
    const part = added.slice(start, start + BINS_PER_TRANSACTION);
    await addLiquidity(chain, deployment, { pool: address, owner: chain.roles.provider, bins: part });
  }
  return { address, feed };
}

/** Q64.64 of a decimal price, exact to a millionth. */
export const priceX64 = (price: number): bigint => (BigInt(Math.round(price * 1e6)) * Q64) / 1_000_000n;

/** The same shares in each of some bins. */
export function evenShares(lowest: number, highest: number, shares: bigint): Map<number, bigint> {
  return new Map(Array.from({ length: highest - lowest + 1 }, (_, index) => [lowest + index, shares]));
}

/** A chain of the configuration behind these nodes. */
export function chainConfig(
  chainId: number,
  rpcUrls: readonly string[],
  change: Partial<ChainConfig> = {},
): ChainConfig {
  const multicall3: Address = '0xca11bde05977b3631167028862be2a173976ca11';
  const budgets = { readBudget: ReadBudgetConfig.parse({}), warmBudget: WarmBudgetConfig.parse({}) };
  const fixed = { chainId, name: 'test', blockTimeMs: 1_000, multicall3, deployments: [], ...budgets };
  return { ...fixed, rpcUrls: [...rpcUrls], ...change };
}

/** Settings for chains that stand still while tests do other things. */
export const stillQuotes: QuotesConfig = QuotesConfig.parse({ maxAgeMs: 86_400_000 });

/** Short limits, so that slow nodes are given up soon, and honest ones have the time that a busy machine takes. */
export const shortTimeouts = {
  ...stillQuotes,
  rpcTimeoutMs: 5_000,
  readTimeoutMs: 30_000,
  ethereumReadTimeoutMs: 5_000,
  waitTimeoutMs: 300,
  minRefreshMs: 20,
};

/** An honest node of a machine under load answers in time. */
export const longTimeouts = {
  ...stillQuotes,
  rpcTimeoutMs: 30_000,
  readTimeoutMs: 60_000,
  ethereumReadTimeoutMs: 60_000,
  waitTimeoutMs: 60_000,
};

/** Limits for tests that mine when they like: every request looks at the chain. */
export const eagerQuotes: QuoteOptions = { ...longTimeouts, minRefreshMs: 1 };

/** Moves the feed behind a pool. */
export function movePrice({ chain, deployment }: QuoteWorld, { feed }: WorldPool, price: number): Promise<void> {
  return setFeedPrice(chain, deployment, { feedId: feed, priceX64: priceX64(price) });
}

/**
 * A pool whose stop loss cuts the bids inside a bin, `depth` bins below the cursor: bins are bought in two goes between
 * which the mid rises by almost the drawdown, so that selling back soon takes too much from the bins of the first go.
 */
export async function makeCutPool(world: QuoteWorld, pair: Pair, bins: number, depth: number): Promise<WorldPool> {
  const { chain, deployment } = world;
  const guard = stopLossExtension(deployment, { drawdownE6: 20_000, decayPerSecondE8: 0, timelockSecs: 100 });
  const pool = await makePool(world, {
    pair,
    price: 2_000,
    extensions: [guard],
    bins: evenBins(-bins, bins, 100),
  });
  const one = 10n ** BigInt(pair.decimals0);
  const buy = (whole: number) =>
    swap(chain, deployment, { pool: pool.address, zeroForOne: false, amountSpecified: -one * BigInt(whole) });
  for (let bought = 0; bought < bins - depth; bought += 10) await buy(Math.min(10, bins - depth - bought));
  await movePrice(world, pool, 2_000 * 1.0192);
  for (let bought = 0; bought < depth; bought += 10) await buy(Math.min(10, depth - bought));
  return pool;
}
