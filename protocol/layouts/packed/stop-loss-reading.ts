import {
  type Address,
  decodeFunctionResult,
  encodeFunctionData,
  type Hex,
  parseAbi,
  prepareEncodeFunctionData,
} from 'viem';
import type { StopLossState, WatchedBin } from '../../guards/stop-loss.ts';
import type { StopLossDuty } from '../../layout.ts';
import { decodeExtsload, encodeExtsload } from '../extsload.ts';
import { STORAGE_ARRANGEMENTS } from './candidates.ts';
import { packedStorage } from './storage.ts';

const CONFIG_ABI = parseAbi([
  'function oracleStopLossConfig(address pool) view returns (uint32 drawdownE6, uint64 decayPerSecondE18, uint40 timelock, bool initialized)',
]);
const WATERMARKS_ABI = parseAbi([
  'function highWatermarks(address pool, int16 bin) view returns (uint104 token0, uint104 token1, uint40 updatedAt)',
]);
const DECAY_SCALE = 10n ** 18n;

const storage = packedStorage(STORAGE_ARRANGEMENTS[0]);

/** How a stop loss of the packed layout is read: its settings, the shares of the pool's bins, and the bins' watermarks. */
export const packedStopLoss: StopLossDuty = {
  mark: null,
  calls(extension, pool, { lowestBin, highestBin }) {
    const bins = Array.from({ length: highestBin - lowestBin + 1 }, (_, index) => lowestBin + index);
    return [
      { target: extension, data: encodeFunctionData({ abi: CONFIG_ABI, args: [pool] }) },
      { target: pool, data: encodeExtsload(bins.map(storage.binSharesSlot)) },
      ...bins.map((bin) => ({ target: extension, data: watermarksCall(pool, bin) })),
    ];
  },
  decode([config, shares, ...watermarks], { lowestBin }, timestamp): StopLossState {
    if (config === undefined || shares === undefined) throw new RangeError('a stop loss gave too few answers');
    const [drawdownE6, decayPerSecond] = decodeFunctionResult({ abi: CONFIG_ABI, data: config });
    const bins = decodeExtsload(shares)
      .map((word, index) => [lowestBin + index, watchedBin(BigInt(word), watermarks[index])] as const)
      .filter(([, { shares }]) => shares > 0n);
    return { drawdownE6, decayPerSecond, decayScale: DECAY_SCALE, timestamp, bins: new Map(bins) };
  },
  binSlot: storage.binSlot,
  decodeBin(word) {
    const { token0Scaled, token1Scaled } = storage.decodeBin(word);
    return { token0: token0Scaled, token1: token1Scaled };
  },
};

const HIGH_WATERMARKS = prepareEncodeFunctionData({ abi: WATERMARKS_ABI });

const watermarksCall = (pool: Address, bin: number): Hex =>
  encodeFunctionData({ ...HIGH_WATERMARKS, args: [pool, bin] });

function watchedBin(shares: bigint, answer: Hex | undefined): WatchedBin {
  if (answer === undefined) throw new RangeError('a stop loss gave too few answers');
  const [token0, token1, updatedAt] = decodeFunctionResult({ abi: WATERMARKS_ABI, data: answer });
  return { shares, watermarks: { token0, token1, updatedAt: BigInt(updatedAt) } };
}
