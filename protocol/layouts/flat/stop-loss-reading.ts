import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, prepareEncodeFunctionData } from 'viem';
import type { StopLossState, WatchedBin } from '../../guards/stop-loss.ts';
import type { StopLossDuty } from '../../layout.ts';
import { decodeExtsload, encodeExtsload } from '../extsload.ts';
import { stopLossAbi } from './extension-abi.ts';
import { decodeBin, flatBinSlot, flatStorage } from './storage.ts';

const DECAY_SCALE = 10n ** 8n;

/** How a stop loss of the flat layout is read: its settings, the shares of the pool's bins, and the bins' watermarks. */
export const flatStopLoss: StopLossDuty = {
  mark: 'mean',
  calls(extension, pool, { lowestBin, highestBin }) {
    const bins = Array.from({ length: highestBin - lowestBin + 1 }, (_, index) => lowestBin + index);
    const shares = encodeExtsload(bins.map(flatStorage.binSharesSlot));
    return [
      { target: extension, data: configCall(pool) },
      { target: pool, data: shares },
      ...bins.map((bin) => ({ target: extension, data: watermarksCall(pool, bin) })),
    ];
  },
  decode([config, shares, ...watermarks], { lowestBin }, timestamp): StopLossState {
    if (config === undefined || shares === undefined) throw new RangeError('a stop loss gave too few answers');
    const [drawdownE6, decayPerSecondE8] = decodeFunctionResult({
      abi: stopLossAbi,
      functionName: 'oracleStopLossConfig',
      data: config,
    });
    const bins = decodeExtsload(shares)
      .map((word, index) => [lowestBin + index, watchedBin(BigInt(word), watermarks[index])] as const)
      .filter(([, { shares }]) => shares > 0n);
    return {
      drawdownE6,
      decayPerSecond: BigInt(decayPerSecondE8),
      decayScale: DECAY_SCALE,
      timestamp,
      bins: new Map(bins),
    };
  },
  binSlot: flatBinSlot,
  decodeBin(word) {
    const { token0Scaled, token1Scaled } = decodeBin(word);
    return { token0: token0Scaled, token1: token1Scaled };
  },
};

const configCall = (pool: Address): Hex =>
  encodeFunctionData({ abi: stopLossAbi, functionName: 'oracleStopLossConfig', args: [pool] });

const HIGH_WATERMARKS = prepareEncodeFunctionData({ abi: stopLossAbi, functionName: 'highWatermarks' });

const watermarksCall = (pool: Address, bin: number): Hex =>
  encodeFunctionData({ ...HIGH_WATERMARKS, args: [pool, bin] });

function watchedBin(shares: bigint, answer: Hex | undefined): WatchedBin {
  if (answer === undefined) throw new RangeError('a stop loss gave too few answers');
  const [token0, token1, updatedAt] = decodeFunctionResult({
    abi: stopLossAbi,
    functionName: 'highWatermarks',
    data: answer,
  });
  return { shares, watermarks: { token0, token1, updatedAt: BigInt(updatedAt) } };
}
