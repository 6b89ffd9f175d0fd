import { randomBytes } from 'node:crypto';
import { type Address, type Hex, toHex } from 'viem';
import { openChainRpc } from '../../chain/chain-rpc.ts';
import { boundedCalls } from '../../chain/isolated-calls.ts';
import { MULTICALL3 } from '../../config/chains-schema.ts';
import { addLiquidity, type SwapOrder, sendSwap } from '../../devnet/actions.ts';
import { startAnvil } from '../../devnet/anvil.ts';
import { loadArtifact } from '../../devnet/artifacts.ts';
import { type Deployment, deployProtocol } from '../../devnet/deploy.ts';
import { connectDevChain, type DevChain, RevertedError } from '../../devnet/dev-chain.ts';
import { deployPackedProtocol, packedStopLossExtension } from '../../devnet/packed/deploy.ts';
import { deployQuoteProvider, setQuote } from '../../devnet/packed/providers.ts';
import type { PackedVariant } from '../../devnet/packed/variants.ts';
import { createPool, evenBins, stopLossExtension } from '../../devnet/pools.ts';
import { deployAnchoredProvider, feedId, setFeedPrice } from '../../devnet/providers.ts';
import { CALLER } from '../../protocol/bounded-calls/bounded-calls.ts';
import type { SwapAmounts } from '../../protocol/curve.ts';
import { flatSimulation } from '../../protocol/layouts/flat/adapter.ts';
import { packedSimulation } from '../../protocol/layouts/packed/simulation.ts';
import { simulatedAmounts } from '../../protocol/pool-errors.ts';
import { providerQuote } from './provider-quote.ts';
import { createFundedToken, priceX64 } from './quote-world.ts';

/** A pool with a stop loss to make. Prices are token1 per whole token0. */
export interface GuardedSpec {
  readonly decimals0: number;
  readonly decimals1: number;
  readonly price: number;
  /** Bins below and above the cursor. */
  readonly below: number;
  readonly above: number;
  readonly lengthE6: number;
  readonly notionalFeeE8: number;
  readonly drawdownE6: number;
  /** Value of a share in token0, scaled units E18: as small as a few hundred it is coarse. */
  readonly valuePerShare: bigint;
}

/** An amount, raw units: positive = exact input, negative = exact output. */
export type Order = Omit<SwapOrder, 'pool'>;

/** What the tests of guards do with a pool of either generation. */
export interface GuardedPool {
  readonly address: Address;
  readonly stopLoss: Address;
  readonly bins: readonly number[];
  movePrice(price: number): Promise<void>;
  /** Trades; what the stop loss refuses is left out. */
  trade(order: Order): Promise<void>;
  /** What the chain's own pool takes and gives at the latest block; null for what it refuses. */
  simulate(orders: readonly Order[]): Promise<readonly (SwapAmounts | null)[]>;
}

/** A chain with the protocol of one generation. */
export interface GuardedMarket {
  readonly layout: 'flat' | 'packed';
  readonly chain: DevChain;
  readonly deployment: Pick<Deployment, 'stopLoss' | 'priceVelocityGuard' | 'depositAllowlist' | 'swapAllowlist'>;
  make(spec: GuardedSpec): Promise<GuardedPool>;
  stop(): Promise<void>;
}

const SCALED_ONE = 10n ** 18n;
const FOREVER = 10n ** 9n;

type Setup = Pick<Deployment, 'poolFactory' | 'liquidityAdder' | 'swapRouter'>;

/** @param variant null for the flat generation */
export async function openGuardedMarket(variant: PackedVariant | null): Promise<GuardedMarket> {
  // Transactions of a block in the order in which they come: by default the node's guess of a usual fee decides, which
  // changes while blocks come.
  const anvil = await startAnvil({ chainId: 31_337, args: ['--order', 'fifo'] });
  try {
    const chain = await connectDevChain(anvil.url);
    const market = variant ? await packedMarket(chain, variant) : await flatMarket(chain, anvil.url);
    return { ...market, chain, stop: anvil.stop };
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}

type Opened = Omit<GuardedMarket, 'chain' | 'stop'>;

async function flatMarket(chain: DevChain, url: string): Promise<Opened> {
  const deployment = await deployProtocol(url, chain.chainId);
  const make = async (spec: GuardedSpec): Promise<GuardedPool> => {
    const feed = feedId(`F/${toHex(randomBytes(8)).slice(2)}`);
    const movePrice = (price: number) => setFeedPrice(chain, deployment, { feedId: feed, priceX64: priceX64(price) });
    await movePrice(spec.price);
    const pair = await createPair(chain, deployment, spec);
    const provider = await deployAnchoredProvider(chain, deployment, {
      ...pair,
      baseFeedId: feed,
      maxRefStaleness: FOREVER,
    });
    const settings = { drawdownE6: spec.drawdownE6, decayPerSecondE8: 0, timelockSecs: 100 };
    const guard = stopLossExtension(deployment, settings);
    const address = await createFunded(chain, deployment, spec, {
      ...pair,
      priceProvider: provider,
      extensions: [guard],
    });
    return {
      address,
      stopLoss: deployment.stopLoss,
      bins: binsOf(spec),
      movePrice,
      trade: (order) => tradeIfAllowed(chain, deployment, { pool: address, ...order }),
      simulate: async (orders) => {
        const quote = await providerQuote(chain, address);
        const data = orders.map(({ zeroForOne, amountSpecified }) =>
          flatSimulation.encode('flat', {
            zeroForOne,
            amountSpecified,
            quote: { ...quote, referenceX64: 0n },
            trader: CALLER,
          }),
        );
        return simulated(chain, address, orders, data);
      },
    };
  };
  return { layout: 'flat', deployment, make };
}

async function packedMarket(chain: DevChain, variant: PackedVariant): Promise<Opened> {
  await chain.client.setCode({ address: MULTICALL3, bytecode: loadArtifact('Multicall3').deployedBytecode });
  const deployment = await deployPackedProtocol(chain, variant);
  const make = async (spec: GuardedSpec): Promise<GuardedPool> => {
    const pair = await createPair(chain, deployment, spec);
    let quote = quoteAt(spec.price);
    const provider = await deployQuoteProvider(chain, deployment, pair, quote);
    const settings = { drawdownE6: spec.drawdownE6, decayPerSecondE18: 0n, timelockSecs: 100 };
    const guard = packedStopLossExtension(deployment, settings);
    const address = await createFunded(chain, deployment, spec, {
      ...pair,
      priceProvider: provider,
      extensions: [guard],
    });
    return {
      address,
      stopLoss: deployment.stopLoss,
      bins: binsOf(spec),
      movePrice: (price) => {
        quote = quoteAt(price);
        return setQuote(chain, provider, quote);
      },
      trade: (order) => tradeIfAllowed(chain, deployment, { pool: address, ...order }),
      simulate: (orders) => {
        const data = orders.map((order) =>
          packedSimulation.encode(variant.simulation, { ...order, quote, trader: CALLER }),
        );
        return simulated(chain, address, orders, data);
      },
    };
  };
  return { layout: 'packed', deployment, make };
}

/** Two basis points wide, and the reference a quarter above the bid. */
function quoteAt(price: number) {
  const bidX64 = (priceX64(price) * 9_999n) / 10_000n;
  const askX64 = (priceX64(price) * 10_001n) / 10_000n;
  return { bidX64, askX64, referenceX64: bidX64 + (askX64 - bidX64) / 4n };
}

const binsOf = ({ below, above }: GuardedSpec): number[] =>
  Array.from({ length: below + above + 1 }, (_, index) => index - below);

async function createPair(chain: DevChain, deployment: Setup, { decimals0, decimals1 }: GuardedSpec) {
  const token0 = await createFundedToken(chain, deployment, decimals0);
  return { token0, token1: await createFundedToken(chain, deployment, decimals1) };
}

/** A pool with about one whole token0, or its price in token1, in each bin. */
async function createFunded(
  chain: DevChain,
  deployment: Setup,
  spec: GuardedSpec,
  rest: Pick<Parameters<typeof createPool>[2], 'token0' | 'token1' | 'priceProvider' | 'extensions'>,
): Promise<Address> {
  const perShare = (whole: bigint, decimals: number) => (whole * 10n ** BigInt(decimals)) / SCALED_ONE;
  const value1 = (spec.valuePerShare * BigInt(Math.round(spec.price * 1e6))) / 1_000_000n;
  const pool = await createPool(chain, deployment, {
    ...rest,
    bins: evenBins(-spec.below, spec.above, spec.lengthE6),
    salt: toHex(randomBytes(32)) as Hex,
    initialAmount0PerShareE18: perShare(spec.valuePerShare, spec.decimals0),
    initialAmount1PerShareE18: perShare(value1, spec.decimals1),
    adminNotionalFeeE8: spec.notionalFeeE8,
  });
  const shares = (SCALED_ONE * SCALED_ONE) / spec.valuePerShare;
  const bins = binsOf(spec).map((bin) => ({ bin, shares }));
  await addLiquidity(chain, deployment, { pool, owner: chain.roles.provider, bins });
  return pool;
}

async function tradeIfAllowed(chain: DevChain, deployment: Setup, order: SwapOrder): Promise<void> {
  if (order.amountSpecified === 0n) return;
  await sendSwap(chain, deployment, order).catch((error: unknown) => {
    if (!(error instanceof RevertedError)) throw error;
  });
}

/** Isolated from each other, several hundred in one `eth_call`. */
async function simulated(
  chain: DevChain,
  pool: Address,
  orders: readonly Order[],
  data: readonly Hex[],
): Promise<(SwapAmounts | null)[]> {
  const rpc = openChainRpc({ chainId: chain.chainId, rpcUrls: [chain.rpcUrl] }, 60_000);
  const bounds = { likelyGas: 400_000, gasLimit: 5_000_000, keptBytes: 68 };
  const groups = data.map((each) => [{ target: pool, data: each, ...bounds }]);
  const { answers } = await boundedCalls({ rpc, chainId: chain.chainId }, { block: 'latest' }, groups);
  return answers.map((answer, index) => {
    const result = answer?.results[0];
    if (!result) throw new Error('a simulation was not begun');
    const swap = simulatedAmounts(result);
    if (!swap) return null;
    const { amount0Delta, amount1Delta } = swap;
    return orders[index]?.zeroForOne
      ? { amountIn: amount0Delta, amountOut: -amount1Delta }
      : { amountIn: amount1Delta, amountOut: -amount0Delta };
  });
}
