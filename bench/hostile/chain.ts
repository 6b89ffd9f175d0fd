import type { Address } from 'viem';
import { evenBins, stopLossExtension } from '../../devnet/pools.ts';
import { deployManualProvider } from '../../devnet/providers.ts';
import { putClones } from '../../test/many-pools/clones.ts';
import { type CountingNode, startCountingNode } from '../../test/many-pools/counting-node.ts';
import { makeOpenPool, PRICE, quoteAt } from '../../test/many-pools/open-pool.ts';
import { groupOf, type PoolGroup, type SeededChain } from '../../test/many-pools/pool-groups.ts';
import {
  addressOf,
  CANDIDATES,
  FIRST_CLONE,
  FIRST_INACTIVE,
  GUARDED,
  type Sizes,
  untrustedTokens,
} from '../../test/many-pools/pool-kinds.ts';
import { gasHogPool, poolBehind } from '../../test/quotes/hostile-pools.ts';
import {
  evenShares,
  makePool,
  type Pair,
  type QuoteWorld,
  SHARES_OF_ONE,
  startQuoteWorld,
} from '../../test/quotes/quote-world.ts';

export interface HostileChain extends SeededChain {
  /** Only the API reaches the node through it. */
  readonly node: CountingNode;
}

const PAIRS = 4;
const BIN_RANGE = 5;
const BINS = evenBins(-BIN_RANGE, BIN_RANGE, 1_000);
const SHARES = evenShares(-BIN_RANGE, BIN_RANGE, SHARES_OF_ONE);

/**
 * A node with all pools on it. On the crowded pair of one chain the honest candidates are plain,
 * on that of another most have a stop loss.
 */
export async function startHostileChain(chainId: number, sizes: Sizes, hasGuards: boolean): Promise<HostileChain> {
  const world = await startQuoteWorld(chainId, ['--no-request-size-limit']);
  const node = await startCountingNode(world.anvil.url);
  const pairs: Pair[] = [];
  while (pairs.length < PAIRS) pairs.push(await world.pair(18, 6));
  const [crowded, ...others] = pairs as [Pair, ...Pair[]];
  const groups = [
    ...(await honestGroups(world, { crowded, others, total: sizes.honest, hasGuards })),
    ...(await untrustedGroups(world, crowded, sizes)),
  ];
  for (const { served, firstClone, clones } of groups) {
    await putClones(world.anvil.url, served.address, clonesAt(firstClone, clones));
  }
  await putClones(world.anvil.url, crowded.token0, untrustedTokens(Math.max(sizes.inactive, sizes.burner)));
  await world.chain.client.mine({ blocks: 1 });
  return { chainId, world, node, groups, pairs, crowded };
}

const clonesAt = (first: number, count: number): Address[] =>
  Array.from({ length: count }, (_, index) => addressOf(first + index));

interface HonestPools {
  readonly crowded: Pair;
  readonly others: readonly Pair[];
  readonly total: number;
  readonly hasGuards: boolean;
}

async function honestGroups(
  world: QuoteWorld,
  { crowded, others, total, hasGuards }: HonestPools,
): Promise<PoolGroup[]> {
  const groups: PoolGroup[] = [];
  let firstClone: number = FIRST_CLONE.honest;
  const add = async (pair: Pair, pools: number, isGuarded = false) => {
    const address = isGuarded ? await guardedPool(world, pair) : await makeOpenPool(world, pair, BIN_RANGE);
    groups.push(await groupOf(world, address, { kind: 'honest', firstClone, clones: pools - 1 }));
    firstClone += pools;
  };
  // A stop loss and a protected provider know their pools: none of those is a copy.
  for (let made = 0; hasGuards && made < GUARDED.guarded; made++) await add(crowded, 1, true);
  await add(crowded, hasGuards ? GUARDED.plain : CANDIDATES);
  const left = total - (hasGuards ? GUARDED.guarded + GUARDED.plain : CANDIDATES);
  for (const [index, pair] of others.entries()) {
    await add(pair, Math.floor(left / others.length) + (index < left % others.length ? 1 : 0));
  }
  return groups;
}

async function guardedPool(world: QuoteWorld, pair: Pair): Promise<Address> {
  const guard = { drawdownE6: 50_000, decayPerSecondE8: 0, timelockSecs: 100 };
  const extensions = [stopLossExtension(world.deployment, guard)];
  return (await makePool(world, { pair, price: PRICE, bins: BINS, shares: SHARES, extensions })).address;
}

/**
 * Pools without liquidity: beside the honest ones of a pair, with a provider that burns all gas,
 * and those that just are.
 */
async function untrustedGroups(world: QuoteWorld, pair: Pair, sizes: Sizes): Promise<PoolGroup[]> {
  const quiet = await deployManualProvider(world.chain, pair, quoteAt(PRICE));
  const group = async (kind: 'crowd' | 'burner' | 'inactive', address: Address, firstClone: number) =>
    groupOf(world, address, { kind, firstClone, clones: sizes[kind] - 1 });
  return [
    await group('crowd', await poolBehind(world, pair, quiet), FIRST_CLONE.crowd),
    await group('burner', await gasHogPool(world, pair), FIRST_CLONE.burner),
    await group('inactive', await poolBehind(world, pair, quiet), FIRST_INACTIVE),
  ];
}
