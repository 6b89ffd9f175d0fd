import type { BinShape } from '../protocol/pool-events.ts';

/* Words of a pool's creation parameters. */

const BIN_FIELD_BITS = 16n;
const BINS_PER_WORD = 5;
const EXTENSION_NUMBER_BITS = 3n;

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
    const fields = bins
      .slice(start, start + BINS_PER_WORD)
      .flatMap(({ lengthE6, addFeeBuyE6, addFeeSellE6 }) => [lengthE6, addFeeBuyE6, addFeeSellE6]);
    words.push(packUp(fields, BIN_FIELD_BITS));
  }
  return words;
}

/** The order that calls extensions of these numbers (1..7) one after another. */
export function encodeExtensionOrder(numbers: readonly number[]): bigint {
  return packUp(numbers, EXTENSION_NUMBER_BITS);
}

/** Fields of one width, from the lowest-order bits up. */
function packUp(fields: readonly number[], bits: bigint): bigint {
  return fields.reduceRight((word, field) => (word << bits) | BigInt(field), 0n);
}
