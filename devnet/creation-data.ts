import type { BinShape } from '../protocol/pool-events.ts';

/* What `createPool` takes, packed as `protocol/layouts/flat/` reads it back from `PoolCreated`. */

const FIELD_BITS = 16n;
const BIN_BITS = 3n * FIELD_BITS;
const BINS_PER_WORD = 5;
const EXTENSION_BITS = 3n;

/** The order that calls extensions of these numbers (1..7) one after another. */
export function encodeExtensionOrder(numbers: readonly number[]): bigint {
  return numbers.reduceRight((order, number) => (order << EXTENSION_BITS) | BigInt(number), 0n);
}

/** The arrays that `decodeBinData` reads back. The bins must have no gaps and no zero length. */
export function encodeBinData(bins: readonly BinShape[]): { nonNegative: bigint[]; negative: bigint[] } {
  const ascending = [...bins].sort((a, b) => a.bin - b.bin);
  return {
    nonNegative: encodeList(ascending.filter(({ bin }) => bin >= 0)),
    negative: encodeList(ascending.filter(({ bin }) => bin < 0).reverse()),
  };
}

function encodeList(bins: readonly BinShape[]): bigint[] {
  const words: bigint[] = [];
  for (let start = 0; start < bins.length; start += BINS_PER_WORD) {
    let word = 0n;
    for (const [index, bin] of bins.slice(start, start + BINS_PER_WORD).entries()) {
      const entry =
        BigInt(bin.lengthE6) |
        (BigInt(bin.addFeeBuyE6) << FIELD_BITS) |
        (BigInt(bin.addFeeSellE6) << (2n * FIELD_BITS));
      word |= entry << (BigInt(index) * BIN_BITS);
    }
    words.push(word);
  }
  return words;
}
