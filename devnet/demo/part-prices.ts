import { E6 } from '../../protocol/fixed-point.ts';
import { connectDevChain } from '../dev-chain.ts';
import type { FeedPrice } from '../live/registry.ts';
import type { Part } from '../parts/part.ts';
import { startPartNode } from '../parts/part-node.ts';
import type { Scenario } from '../scenario.ts';
import { seededRandom } from '../traffic/random.ts';
import { type LivePart, openLivePools, priceWalk } from './live-setup.ts';

export interface PartPriceOptions {
  readonly seed: number;
  /** Seconds between two blocks. */
  readonly blockSecs: number;
}

const PARTS_PER_BLOCK = 10;
/** By how much the first pool is better in the last part of each block, millionths. */
const BETTER_E6 = 60n;

/**
 * Makes pools whose makers move prices in each part of a block, and lets a sequencer show the chain's blocks in parts
 * from now on. The first pool shows a better price in the last part of a block,
 * and withdraws it in the first one of the next.
 */
export async function startPartPrices(
  rpcUrl: string,
  scenario: Scenario,
  { seed, blockSecs }: PartPriceOptions,
): Promise<LivePart> {
  const chain = await connectDevChain(rpcUrl);
  const { tokens, pools } = await openLivePools(chain, scenario);
  const node = await startPartNode(chain, {
    partsPerBlock: PARTS_PER_BLOCK,
    blockSecs,
    form: 'payload',
    followsClock: true,
    record: false,
  });
  const walk = priceWalk(seededRandom(seed));
  const stop = node.run(async (part) => {
    const price = walk();
    for (const [index, { maker }] of pools.entries()) {
      const isBetter = index === 0 && part.index === PARTS_PER_BLOCK - 2;
      node.submit((await maker.sign(blockOf(part, blockSecs), isBetter ? better(price) : price)).transaction);
    }
  });
  return {
    pools,
    tokens,
    live: { sources: [{ kind: 'preconfirmed', rpcUrls: [node.url], wsUrls: [node.wsUrl] }] },
    note: `${pools.length} pools, a part every ${(blockSecs * 1_000) / PARTS_PER_BLOCK} ms, ${node.wsUrl}`,
    stop: async () => {
      await stop();
      await node.stop();
    },
  };
}

/** The block of the part after this one. */
function blockOf({ number, timeSecs, index }: Part, blockSecs: number) {
  const isLast = index === PARTS_PER_BLOCK - 1;
  return isLast
    ? { number: number + 1n, timeSecs: timeSecs + BigInt(blockSecs), slot: 0n }
    : { number, timeSecs, slot: 0n };
}

const better = ({ bidX64, askX64 }: FeedPrice): FeedPrice => ({
  bidX64: (bidX64 * (E6 + BETTER_E6)) / E6,
  askX64: (askX64 * (E6 - BETTER_E6)) / E6,
});
