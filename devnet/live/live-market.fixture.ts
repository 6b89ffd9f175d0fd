import type { Address } from 'viem';
import { Q64 } from '../../protocol/fixed-point.ts';
import { deployToken, fundAccounts, type SwapOrder, swapCall } from '../actions.ts';
import { type Anvil, startAnvil } from '../anvil.ts';
import { type Deployment, deployProtocol } from '../deploy.ts';
import { connectDevChain, type DevChain } from '../dev-chain.ts';
import { deployPackedProtocol, type PackedDeployment } from '../packed/deploy.ts';
import { type PackedVariant, packedVariant } from '../packed/variants.ts';
import type { LiveTrade } from './build-block.ts';
import { createLivePool, type LiveGuard, type LivePool, type LiveSetup, ONE } from './live-pools.ts';
import type { QuoteUpdate } from './maker.ts';
import { type LiveBuilderOptions, type MockLiveBuilder, startMockLiveBuilder } from './mock-live-builder.ts';
import { deployRegistry, type FeedPrice } from './registry.ts';

export interface LiveMarketOptions {
  /** Pools of each layout. Default: 3. */
  readonly flatPools?: number;
  readonly packedPools?: number;
  /** What pools get in turn. Default: every third one has no guard, a stop loss, a velocity guard. */
  readonly guards?: readonly LiveGuard[];
  /** Of the packed pools. Default: the one of the rule `sumOnEdges`. */
  readonly variant?: PackedVariant;
  readonly builder?: LiveBuilderOptions;
  /** Further arguments of the node, as `--timestamp`. */
  readonly anvilArgs?: readonly string[];
}

/** Two tokens of 18 decimals, and pools of them whose prices live with a builder until a trade needs them. */
export interface LiveMarket {
  readonly anvil: Anvil;
  readonly chain: DevChain;
  readonly deployment: Deployment;
  readonly packed: PackedDeployment;
  readonly token0: Address;
  readonly token1: Address;
  /** The account with the words of all feeds. */
  readonly registry: Address;
  /** The flat pools, then the packed ones. */
  readonly pools: readonly LivePool[];
  readonly builder: MockLiveBuilder;
  /** Signs a price of the pool's feed for the block being built, and submits it to the builder. */
  update(pool: LivePool, price: FeedPrice): Promise<QuoteUpdate>;
  /** A swap of the trader for `buildBlock`, which needs the pool's feed. */
  trade(pool: LivePool, order: Omit<SwapOrder, 'pool'>): LiveTrade;
  /** Stops the builder and the node. */
  close(): Promise<void>;
}

/**
 * A basis point on either side of a mid, in hundredths of token1 per token0: 200 is the price at which pools are made.
 */
export function priceAround(hundredths: bigint): FeedPrice {
  const midX64 = (Q64 * hundredths) / 100n;
  return { bidX64: (midX64 * 9_999n) / 10_000n, askX64: (midX64 * 10_001n) / 10_000n };
}

/** Starts a node with a live market on it. Its head is a block of the builder, at the time of a slot. */
export async function startLiveMarket(options: LiveMarketOptions = {}): Promise<LiveMarket> {
  // The builder decides the order of a block's transactions.
  const anvil = await startAnvil({ chainId: 31_337, args: ['--order', 'fifo', ...(options.anvilArgs ?? [])] });
  try {
    const chain = await connectDevChain(anvil.url);
    const setup = await prepareSetup(chain, options.variant);
    const pools = await createPools(setup, options);
    const builder = await startMockLiveBuilder(chain, options.builder);
    return assemble(anvil, setup, pools, builder);
  } catch (error) {
    await anvil.stop();
    throw error;
  }
}

async function prepareSetup(chain: DevChain, variant = packedVariant('sumOnEdges')): Promise<LiveSetup> {
  const flat = await deployProtocol(chain.rpcUrl, chain.chainId);
  const packed = await deployPackedProtocol(chain, variant);
  const token0 = await deployToken(chain, { name: 'Zero', symbol: 'ZERO', decimals: 18 });
  const token1 = await deployToken(chain, { name: 'One', symbol: 'ONE', decimals: 18 });
  const accounts = [chain.roles.trader, chain.roles.provider];
  for (const token of [token0, token1]) {
    for (const deployment of [flat, packed]) {
      await fundAccounts(chain, deployment, token, { accounts, amount: ONE ** 2n });
    }
  }
  return { chain, flat, packed, token0, token1, registry: await deployRegistry(chain) };
}

async function createPools(setup: LiveSetup, options: LiveMarketOptions): Promise<LivePool[]> {
  const { flatPools = 3, packedPools = 3, guards } = options;
  const pools: LivePool[] = [];
  for (let number = 0; number < flatPools; number++) pools.push(await createLivePool(setup, 'flat', number, guards));
  for (let number = 0; number < packedPools; number++)
    pools.push(await createLivePool(setup, 'packed', number, guards));
  return pools;
}

function assemble(
  anvil: Anvil,
  { chain, flat, packed, token0, token1, registry }: LiveSetup,
  pools: readonly LivePool[],
  builder: MockLiveBuilder,
): LiveMarket {
  return {
    anvil,
    chain,
    deployment: flat,
    packed,
    token0,
    token1,
    registry,
    pools,
    builder,
    async update({ maker }, price) {
      const update = await maker.sign(builder.block(), price);
      builder.submit(update);
      return update;
    },
    trade({ address, layout, feedId }, order) {
      const deployment = layout === 'flat' ? flat : packed;
      return { transaction: swapCall(chain, deployment, { ...order, pool: address }), feedIds: [feedId] };
    },
    async close() {
      await builder.stop();
      await anvil.stop();
    },
  };
}
