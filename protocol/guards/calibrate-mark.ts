import { type Address, type Hex, toEventSelector } from 'viem';
import type { CalibrationBlock, CalibrationChain, CalibrationPool, Finding, PoolLog } from '../calibration.ts';
import { maxBigint } from '../fixed-point.ts';
import type { EventLayout, LayoutAdapter } from '../layout.ts';
import { decodeExtsload, encodeExtsload } from '../layouts/extsload.ts';
import { byBlock, byTurns } from '../pool-logs.ts';
import { finding } from '../verdict.ts';
import { judgeMarks, type RaisedBin } from './observed-marks.ts';
import { decayedCeil, type StopLossState } from './stop-loss.ts';

/** The name under which the finding is kept. */
export const STOP_LOSS_MARK = 'stopLossMark';

/** Blocks that are looked through at most: few nodes hold the state of older ones. */
const MOST_BLOCKS = 5_000n;
/** Blocks in one request for logs. */
const BLOCKS_AT_ONCE = 1_000n;

/** What the search for a mark goes through. */
export interface MarkTask {
  readonly stopLoss: Address;
  /** Pools that run it. Whoever made a pool chooses its provider: those that hold most come first. */
  readonly pools: readonly CalibrationPool[];
  /** Swaps to look at, at most. */
  readonly swaps: number;
}

/** A block in which a swap was all that its pool did. */
interface LoneBlock {
  readonly pool: CalibrationPool;
  readonly number: bigint;
  readonly hash: Hex;
  readonly bins: readonly number[];
}

/**
 * Finds the price at which a deployed stop loss values bins, from the watermarks that the newest swaps stored.
 *
 * @throws what `chain` throws
 */
export async function calibrateMark(
  chain: CalibrationChain,
  adapter: Pick<LayoutAdapter, 'prices' | 'stopLoss'>,
  events: EventLayout,
  { stopLoss, pools, swaps }: MarkTask,
): Promise<Finding> {
  const { number: newest } = await chain.head();
  const raised: RaisedBin[] = [];
  let looked = 0;
  for (let to = newest; pools.length > 0 && to > 0n && newest - to < MOST_BLOCKS; to -= BLOCKS_AT_ONCE) {
    const blocks = await loneBlocks(chain, events, pools, maxBigint(to - BLOCKS_AT_ONCE + 1n, 0n), to);
    const left = blocks.slice(0, swaps - looked);
    for (const block of left) raised.push(...(await raisedBins(chain, adapter, stopLoss, block)));
    looked += left.length;
  }
  const { verdict, seen } = judgeMarks(raised);
  return finding(STOP_LOSS_MARK, verdict, seen);
}

/** The newest of each pool first, by turns of the pools. */
async function loneBlocks(
  chain: CalibrationChain,
  { abi }: EventLayout,
  pools: readonly CalibrationPool[],
  fromBlock: bigint,
  toBlock: bigint,
): Promise<readonly LoneBlock[]> {
  const topicOf = (name: string) =>
    abi.pool.filter((event) => event.name === name).map((event) => toEventSelector(event))[0];
  const [swapped, binSwapped] = [topicOf('Swap'), topicOf('BinSwapped')];
  const logs = await chain.logs(
    pools.map(({ address }) => address),
    fromBlock,
    toBlock,
  );
  const byPool = new Map<Address, LoneBlock[]>();
  for (const own of byBlock(logs)) {
    const [first] = own;
    const pool = pools.find(({ address }) => address === first?.address);
    const parts = own.filter(({ topics }) => topics[0] === binSwapped);
    const isLone = own.filter(({ topics }) => topics[0] === swapped).length === 1 && parts.length === own.length - 1;
    if (!first || !pool || !isLone) continue;
    const lone = { pool, number: first.blockNumber, hash: first.blockHash, bins: [...new Set(parts.map(binOf))] };
    byPool.set(pool.address, [lone, ...(byPool.get(pool.address) ?? [])]);
  }
  return byTurns([...byPool.values()]);
}

/** The bin is the first word of a `BinSwapped` of either generation. */
const binOf = ({ data }: PoolLog): number => Number(BigInt.asIntN(256, BigInt(data.slice(0, 66))));

/** Bins of a block whose watermarks its swap raised; none where the nodes no longer hold the state. */
async function raisedBins(
  chain: CalibrationChain,
  { prices, stopLoss }: Pick<LayoutAdapter, 'prices' | 'stopLoss'>,
  extension: Address,
  { pool, number, hash, bins }: LoneBlock,
): Promise<RaisedBin[]> {
  const [before, after] = await Promise.all([chain.blockAt(number - 1n), chain.blockAt(number)]);
  if (after.hash !== hash) return [];
  const stub = prices.providerStubCode(pool.priceProvider);
  const [told, words] = await Promise.all([
    chain.call(after, pool.address, prices.providerQuoteCall, stub),
    chain.call(after, pool.address, encodeExtsload(bins.map(stopLoss.binSlot))),
  ]);
  const quote = told === null ? undefined : prices.decodeQuote({ success: true, data: told });
  if (!quote || words === null) return [];
  const balances = decodeExtsload(words).map((word) => stopLoss.decodeBin(word));
  const found = await Promise.all(
    bins.map(async (bin, index): Promise<RaisedBin | null> => {
      const immutables = { lowestBin: bin, highestBin: bin, scale: pool.scale };
      const read = async (block: CalibrationBlock): Promise<StopLossState | null> => {
        const calls = stopLoss.calls(extension, pool.address, immutables);
        const answers = await Promise.all(calls.map(({ target, data }) => chain.call(block, target, data)));
        const known = answers.filter((answer) => answer !== null);
        return known.length < calls.length ? null : stopLoss.decode(known, immutables, after.timestamp);
      };
      const [old, now] = await Promise.all([read(before), read(after)]);
      const [was, is, has] = [old?.bins.get(bin)?.watermarks, now?.bins.get(bin), balances[index]];
      if (!old || !is || !has || is.watermarks.updatedAt !== after.timestamp) return null;
      const raised = (key: 'token0' | 'token1') => {
        const high = was ? decayedCeil(old, was[key], was.updatedAt) : 0n;
        return is.watermarks[key] > high ? is.watermarks[key] : null;
      };
      const [stored0, stored1] = [raised('token0'), raised('token1')];
      if (stored0 === null && stored1 === null) return null;
      return {
        name: `${pool.address}@${number} bin ${bin}`,
        balances: has,
        shares: is.shares,
        stored0,
        stored1,
        quote,
      };
    }),
  );
  return found.filter((bin) => bin !== null);
}
