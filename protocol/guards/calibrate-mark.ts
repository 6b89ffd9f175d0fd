import { type Address, type Hex, toEventSelector } from 'viem';
import type { CalibrationBlock, CalibrationChain, CalibrationPool, Finding, PoolLog } from '../calibration.ts';
import { maxBigint } from '../fixed-point.ts';
import type { EventLayout, LayoutAdapter } from '../layout.ts';
import { decodeExtsload, encodeExtsload } from '../layouts/extsload.ts';
import { byBlock, byTurns } from '../pool-logs.ts';
import { finding } from '../verdict.ts';
import { judgeMarks, type RaisedBin } from './observed-marks.ts';
import { decayedCeil } from './stop-loss.ts';

/** The name under which the finding is kept. */
export const STOP_LOSS_MARK = 'stopLossMark';

/** Blocks that are looked through at most: few nodes hold the state of older ones. */
const MOST_BLOCKS = 5_000n;
/** Blocks in one request for logs. */
const BLOCKS_AT_ONCE = 1_000n;
/** Bins of a swap that are looked at. */
const MOST_BINS = 5;
/** Of each call of the pool and its stop loss, whose answer has at most a word for each bin and two more. */
const BOUNDS = { likelyGas: 60_000, gasLimit: 300_000, keptBytes: (MOST_BINS + 2) * 32 };

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
    for (const block of await loneBlocks(chain, events, pools, maxBigint(to - BLOCKS_AT_ONCE + 1n, 0n), to)) {
      if (looked++ === swaps) break;
      raised.push(...(await raisedBins(chain, adapter, stopLoss, block)));
      const { verdict, seen } = judgeMarks(raised);
      if (verdict.decided !== null) return finding(STOP_LOSS_MARK, verdict, seen);
    }
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
    const isOne = own.filter(({ topics }) => topics[0] === swapped).length === 1;
    const isLone = isOne && parts.length > 0 && parts.length === own.length - 1;
    if (!first || !pool || !isLone) continue;
    const lone = {
      pool,
      number: first.blockNumber,
      hash: first.blockHash,
      bins: [...new Set(parts.map(binOf))].slice(0, MOST_BINS),
    };
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
  const range = { lowestBin: Math.min(...bins), highestBin: Math.max(...bins), scale: pool.scale };
  const words = { target: pool.address, data: encodeExtsload(bins.map(stopLoss.binSlot)) };
  const asked = [words, ...stopLoss.calls(extension, pool.address, range)].map((call) => ({ ...call, ...BOUNDS }));
  /** Balances of the bins, and the stop loss at the time of the swap. */
  const read = async (block: CalibrationBlock, at: CalibrationBlock) => {
    const results = await chain.attempts(block, asked);
    const [balances, ...state] = results.flatMap((result) => (result?.success ? [result.data] : []));
    if (balances === undefined || state.length < asked.length - 1) return null;
    return { balances: decodeExtsload(balances), state: stopLoss.decode(state, range, at.timestamp) };
  };
  const after = await chain.blockAt(number);
  const now = after.hash === hash ? await read(after, after) : null;
  const isStored = (bin: number) => now?.state.bins.get(bin)?.watermarks.updatedAt === after.timestamp;
  if (!now || !bins.some(isStored)) return [];
  const old = await read(await chain.blockAt(number - 1n), after);
  const stub = prices.providerStubCode(pool.priceProvider);
  const told = await chain.call(after, pool.address, prices.providerQuoteCall, stub);
  const quote = told === null ? undefined : prices.decodeQuote({ success: true, data: told });
  if (!old || !quote) return [];
  return bins.flatMap((bin, index): RaisedBin[] => {
    const [was, is, word] = [old.state.bins.get(bin)?.watermarks, now.state.bins.get(bin), now.balances[index]];
    if (!is || !word || !isStored(bin)) return [];
    const raised = (key: 'token0' | 'token1') => {
      const high = was ? decayedCeil(old.state, was[key], was.updatedAt) : 0n;
      return is.watermarks[key] > high ? is.watermarks[key] : null;
    };
    const [stored0, stored1] = [raised('token0'), raised('token1')];
    if (stored0 === null && stored1 === null) return [];
    const name = `${pool.address}@${number} bin ${bin}`;
    return [{ name, balances: stopLoss.decodeBin(word), shares: is.shares, stored0, stored1, quote }];
  });
}
