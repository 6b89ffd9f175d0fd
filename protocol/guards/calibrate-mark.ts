import type { Address } from 'viem';
import type { CalibrationBlock, CalibrationChain, CalibrationPool, Finding, PoolLog } from '../calibration.ts';
import type { EventLayout, LayoutAdapter } from '../layout.ts';
import { decodeExtsload, encodeExtsload } from '../layouts/extsload.ts';
import { binSlot, decodeBin } from '../layouts/storage.ts';
import { type SingleSwap, singleSwaps } from '../single-swaps.ts';
import { decayedCeil } from '../stop-loss/stop-loss.ts';
import { judgeMarks, type RaisedBin } from './observed-marks.ts';

/** Most bins of a swap that are looked at. */
const MAX_BINS = 5;
/** Bounds of each call to the pool and its stop loss. An answer has at most a word for each bin and two more. */
const BOUNDS = { likelyGas: 60_000, gasLimit: 300_000, keptBytes: (MAX_BINS + 2) * 32 };

/** Where a mark is searched. */
export interface MarkTask {
  readonly stopLoss: Address;
  /** Pools that run the stop loss, those that hold most first: whoever creates a pool chooses its provider. */
  readonly pools: readonly CalibrationPool[];
  /** Most swaps to look at. */
  readonly swaps: number;
}

/**
 * Finds the price at which a deployed stop loss values bins, from the watermarks that the newest swaps stored.
 *
 * @throws what `chain` throws
 */
export async function calibrateMark(
  chain: CalibrationChain,
  adapter: Pick<LayoutAdapter, 'prices' | 'stopLoss'>,
  { abi }: EventLayout,
  { stopLoss, pools, swaps }: MarkTask,
): Promise<Finding> {
  const raised: RaisedBin[] = [];
  let looked = 0;
  for await (const single of singleSwaps(chain, abi.pool, pools)) {
    if (looked++ === swaps) break;
    raised.push(...(await raisedBins(chain, adapter, stopLoss, single)));
    const finding = judgeMarks(raised);
    if (finding.decided !== null) return finding;
  }
  return judgeMarks(raised);
}

/** The bin of a `BinSwapped`: its first word in either layout. */
const binOf = ({ data }: PoolLog): number => Number(BigInt.asIntN(256, BigInt(data.slice(0, 66))));

/** The bins whose watermarks this swap raised; none where the nodes no longer hold the state. */
async function raisedBins(
  chain: CalibrationChain,
  { prices, stopLoss }: Pick<LayoutAdapter, 'prices' | 'stopLoss'>,
  extension: Address,
  { pool, blockNumber, blockHash, bins: logs }: SingleSwap,
): Promise<RaisedBin[]> {
  const bins = [...new Set(logs.map(binOf))].slice(0, MAX_BINS);
  if (bins.length === 0) return [];
  const range = { lowestBin: Math.min(...bins), highestBin: Math.max(...bins), scale: pool.scale };
  const words = { target: pool.address, data: encodeExtsload(bins.map(binSlot)) };
  const sentCalls = [words, ...stopLoss.calls(extension, pool.address, range)].map((call) => ({ ...call, ...BOUNDS }));
  /** Reads the balances of the bins at `block`, and the stop loss with its decay up to the time of `at`. */
  const read = async (block: CalibrationBlock, at: CalibrationBlock) => {
    const results = await chain.attempts(block, sentCalls);
    const [balances, ...state] = results.flatMap((result) => (result?.success ? [result.data] : []));
    if (balances === undefined || state.length < sentCalls.length - 1) return null;
    return { balances: decodeExtsload(balances), state: stopLoss.decode(state, range, at.timestamp) };
  };
  const after = await chain.blockAt(blockNumber);
  const now = after.hash === blockHash ? await read(after, after) : null;
  const isStored = (bin: number) => now?.state.bins.get(bin)?.watermarks.updatedAt === after.timestamp;
  if (!now || !bins.some(isStored)) return [];
  const old = await read(await chain.blockAt(blockNumber - 1n), after);
  const stub = prices.providerStubCode(pool.priceProvider);
  const quoted = await chain.call(after, pool.address, prices.providerQuoteCall, stub);
  const quote = quoted === null ? undefined : prices.decodeQuote({ success: true, data: quoted });
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
    const name = `${pool.address}@${blockNumber} bin ${bin}`;
    const { token0Scaled: token0, token1Scaled: token1 } = decodeBin(word);
    return [{ name, balances: { token0, token1 }, shares: is.shares, stored0, stored1, quote }];
  });
}
