import { type Address, encodeFunctionData, type Hex } from 'viem';
import { manualProviderAbi, tokenAbi } from '../../devnet/abi.ts';
import { send } from '../../devnet/dev-chain.ts';
import { type Pair, type QuoteWorld, startQuoteWorld } from '../quotes/quote-world.ts';
import { putClones } from './clones.ts';
import { type CountingNode, startCountingNode } from './counting-node.ts';
import { makeOpenPool, PRICE, quoteAt } from './open-pool.ts';
import { groupOf, type PoolGroup, type SeededChain } from './pool-groups.ts';
import { addressOf, FIRST_CLONE } from './pool-kinds.ts';

/** Sizes of groups of pools. In a block the quotes of one group change; those of the last group never do. */
const GROUPS = [30, 30, 30, 10];

/** What one transaction has room for. */
const BIN_RANGE = 7;

/** A chain whose blocks come when the bench says so. */
export interface StreamChain extends SeededChain {
  /** The API alone reaches the node through it. */
  readonly node: CountingNode;
  /** Addresses by group; the last one stands still. */
  readonly pools: readonly (readonly Address[])[];
  readonly stop: () => Promise<void>;
}

/** A node with all pools on it, those of a group behind one provider. */
export async function startStreamChain(chainId: number, sizes: readonly number[] = GROUPS): Promise<StreamChain> {
  const world = await startQuoteWorld(chainId, ['--no-request-size-limit']);
  const pair = await world.pair(18, 6);
  const groups: PoolGroup[] = [];
  let firstClone: number = FIRST_CLONE.honest;
  for (const size of sizes) {
    const address = await makeOpenPool(world, pair, BIN_RANGE);
    const group = await groupOf(world, address, { kind: 'honest', firstClone, clones: size - 1 });
    await putClones(world.anvil.url, address, clonesOf(group));
    await fundClones(world, pair, address, clonesOf(group));
    groups.push(group);
    firstClone += size;
  }
  await world.chain.client.mine({ blocks: 1 });
  const node = await startCountingNode(world.anvil.url);
  return {
    chainId,
    world,
    groups,
    pairs: [pair],
    crowded: pair,
    node,
    pools: groups.map((group) => [group.served.address, ...clonesOf(group)]),
    stop: async () => {
      await node.stop();
      await world.stop();
    },
  };
}

const clonesOf = ({ firstClone, clones }: PoolGroup): Address[] =>
  Array.from({ length: clones }, (_, index) => addressOf(firstClone + index));

/** Gives copies of a pool its tokens: a pool that cannot pay has both sides closed. */
async function fundClones({ chain }: QuoteWorld, pair: Pair, pool: Address, clones: readonly Address[]): Promise<void> {
  const { owner } = chain.roles;
  for (const token of [pair.token0, pair.token1]) {
    const held = { address: token, abi: tokenAbi, functionName: 'balanceOf', args: [pool] } as const;
    const amount = await chain.client.readContract(held);
    for (const clone of clones) {
      const data = encodeFunctionData({ abi: tokenAbi, functionName: 'mint', args: [clone, amount] });
      await send(chain, { from: owner, to: token, data });
    }
  }
}

/** Mines a block in which the quotes of one group change. */
export async function movePrices(
  { world: { chain }, groups }: StreamChain,
  group: number,
): Promise<{ readonly number: number; readonly hash: Hex }> {
  const provider = groups[group]?.priceProvider;
  if (provider === undefined) throw new RangeError(`there is no group ${group}`);
  const { bidX64, askX64 } = quoteAt(PRICE * (1 + Math.random() / 100));
  const data = encodeFunctionData({
    abi: manualProviderAbi,
    functionName: 'setQuote',
    args: [bidX64, askX64],
  });
  const { blockNumber, blockHash } = await send(chain, { from: chain.roles.owner, to: provider, data });
  return { number: Number(blockNumber), hash: blockHash };
}
