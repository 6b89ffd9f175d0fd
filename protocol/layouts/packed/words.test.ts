import fc from 'fast-check';
import { numberToHex } from 'viem';
import { describe, expect, it } from 'vitest';
import { BIN_WORD } from '../storage.ts';
import { hexReader, signedHalves, unsignedHalves, type WordShape } from '../words.ts';
import { packedStorage } from './storage.ts';
import { readWord, writeWord } from './words.fixture.ts';

const STORED: readonly WordShape<string>[] = [packedStorage.slot0, BIN_WORD];

describe.each(STORED)('the shape %o', (shape) => {
  const fields = Object.values(shape);

  it('has fields that fit into a word and do not overlap', () => {
    const sorted = [...fields].sort((a, b) => a.offset - b.offset);
    let end = 0;
    for (const { offset, bits } of sorted) {
      expect(offset).toBeGreaterThanOrEqual(end);
      end = offset + bits;
    }
    expect(end).toBeLessThanOrEqual(256);
  });

  it('reads back what it wrote', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, (1n << 256n) - 1n), (word) => {
        const values = readWord(shape, word);
        const written = writeWord(shape, values);
        expect(readWord(shape, written)).toEqual(values);
        expect(written & ~word).toBe(0n);
        for (const [name, { bits, signed = false }] of Object.entries(shape)) {
          const value = values[name] ?? 0n;
          const half = 1n << BigInt(bits - 1);
          expect(signed ? value >= -half && value < half : value >= 0n && value < 2n * half).toBe(true);
        }
      }),
    );
  });
});

describe('the hex text of a storage word', () => {
  it.each(STORED)('%#: is read as the word is', (shape) => {
    const read = hexReader(shape);
    fc.assert(
      fc.property(fc.bigInt(0n, (1n << 256n) - 1n), (word) => {
        expect(read(numberToHex(word))).toEqual(readWord(shape, word));
        expect(read(numberToHex(word, { size: 32 }))).toEqual(readWord(shape, word));
      }),
    );
  });

  it('has no field of single bits', () => {
    expect(() => hexReader({ flag: { offset: 1, bits: 1 } })).toThrow('flag');
  });
});

describe('halves', () => {
  it.each([
    [0n, 0n, 0n],
    [1n, 0n, 1n],
    [1n << 128n, 1n, 0n],
    [(1n << 256n) - 1n, -1n, -1n],
    [(1n << 128n) - 1n, 0n, -1n],
    [1n << 127n, 0n, -(1n << 127n)],
    [(1n << 255n) | 5n, -(1n << 127n), 5n],
  ])('of %s are %s and %s', (word, high, low) => {
    expect(signedHalves(word)).toEqual({ high, low });
    expect(unsignedHalves(word)).toEqual({ high: BigInt.asUintN(128, high), low: BigInt.asUintN(128, low) });
  });
});
