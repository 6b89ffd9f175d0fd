import type { BinShape } from '../pool-events.ts';

const FIELD_BITS = 16n;
const FIELD_MASK = (1n << FIELD_BITS) - 1n;
const BIN_BITS = 3n * FIELD_BITS;
const BINS_PER_WORD = 5;

/**
 * Bins of a `PoolCreated`: five 48-bit entries per word from the least significant, each length, buy fee, sell fee; a
 * zero length ends a list. The first array holds bins 0, 1, 2, ...; the second -1, -2, .... Ascending by bin.
 */
export function decodeBinData(nonNegative: readonly bigint[], negative: readonly bigint[]): BinShape[] {
  const up = decodeList(nonNegative).map((entry, index) => ({ bin: index, ...entry }));
  const down = decodeList(negative).map((entry, index) => ({ bin: -1 - index, ...entry }));
  return [...down.reverse(), ...up];
}

function decodeList(words: readonly bigint[]): Omit<BinShape, 'bin'>[] {
  const entries: Omit<BinShape, 'bin'>[] = [];
  for (const word of words) {
    for (let index = 0n; index < BINS_PER_WORD; index++) {
      const entry = word >> (index * BIN_BITS);
      const lengthE6 = Number(entry & FIELD_MASK);
      if (lengthE6 === 0) return entries;
      entries.push({
        lengthE6,
        addFeeBuyE6: Number((entry >> FIELD_BITS) & FIELD_MASK),
        addFeeSellE6: Number((entry >> (2n * FIELD_BITS)) & FIELD_MASK),
      });
    }
  }
  return entries;
}
