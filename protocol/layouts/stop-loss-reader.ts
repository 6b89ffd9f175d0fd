import { type Address, type Hex, numberToHex, toFunctionSelector } from 'viem';
import { addressWord, wordAt } from '../abi-words.ts';
import type { StopLossReader } from '../layout.ts';
import type { StopLossMark, StopLossState, WatchedBin } from '../stop-loss/stop-loss.ts';
import { decodeExtsload, encodeExtsload } from './extsload.ts';
import { binSharesSlot } from './storage.ts';

/** What differs between the stop losses of layouts. */
interface StopLossRelease {
  /** How the public release values bins; null where no source is public. */
  readonly mark: StopLossMark | null;
  /** The type of a bin's number in `highWatermarks`. */
  readonly binType: 'int8' | 'int16';
  /** The number that stands for 1 in the decay per second. */
  readonly decayScale: bigint;
}

const CONFIG = toFunctionSelector('oracleStopLossConfig(address)');

/** Calldata that asks a stop loss for a pool's settings: drawdown (E6), decay per second, timelock (seconds). */
export const stopLossConfigCall = (pool: Address): Hex => `${CONFIG}${addressWord(pool)}`;

/** Makes the reader of a stop loss: of its settings, the shares of the pool's bins, and the bins' watermarks. */
export function stopLossReader({ mark, binType, decayScale }: StopLossRelease): StopLossReader {
  const watermarks = toFunctionSelector(`highWatermarks(address,${binType})`);
  return {
    mark,
    calls(extension, pool, { lowestBin, highestBin }) {
      const bins = Array.from({ length: highestBin - lowestBin + 1 }, (_, index) => lowestBin + index);
      const ofPool = addressWord(pool);
      return [
        { target: extension, data: stopLossConfigCall(pool) },
        { target: pool, data: encodeExtsload(bins.map(binSharesSlot)) },
        ...bins.map((bin) => ({ target: extension, data: `${watermarks}${ofPool}${intWord(bin)}` as const })),
      ];
    },
    decode([config, shares, ...marks], { lowestBin }, timestamp): StopLossState {
      if (config === undefined || shares === undefined) throw new RangeError('a stop loss gave too few answers');
      const bins = decodeExtsload(shares)
        .map((word, index) => [lowestBin + index, watchedBin(BigInt(word), marks[index])] as const)
        .filter(([, bin]) => bin.shares > 0n);
      return {
        drawdownE6: Number(wordAt(config, 0)),
        decayPerSecond: wordAt(config, 1),
        decayScale,
        timestamp,
        bins: new Map(bins),
      };
    },
  };
}

const intWord = (value: number): string => numberToHex(BigInt.asUintN(256, BigInt(value)), { size: 32 }).slice(2);

function watchedBin(shares: bigint, answer: Hex | undefined): WatchedBin {
  if (answer === undefined) throw new RangeError('a stop loss gave too few answers');
  const [token0, token1, updatedAt] = [wordAt(answer, 0), wordAt(answer, 1), wordAt(answer, 2)];
  return { shares, watermarks: { token0, token1, updatedAt } };
}
