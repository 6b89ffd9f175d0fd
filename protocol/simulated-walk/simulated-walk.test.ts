import { join } from 'node:path';
import {
  concatHex,
  encodeAbiParameters,
  type Hex,
  numberToHex,
  parseAbiParameters,
  size,
  toFunctionSelector,
} from 'viem';
import { expect, test } from 'vitest';
import { compileCode } from '../../devnet/compile-code.ts';
import { decodeWalk, encodeWalk, type SideWalk } from './simulated-walk.ts';
import { SIMULATED_WALK_CODE } from './simulated-walk-code.ts';

/** The compiler takes its time on a busy machine. */
const COMPILER_TIMEOUT_MS = 300_000;
const MAX_CODE_BYTES = 49_152;

test(
  'the committed code is what the compiler makes of the source',
  () => {
    const source = join(import.meta.dirname, 'SimulatedWalk.sol');
    expect(compileCode(source)).toBe(SIMULATED_WALK_CODE);
  },
  COMPILER_TIMEOUT_MS,
);

const walk: SideWalk = {
  pool: `0x${'ab'.repeat(20)}`,
  template: { data: `0x${'00'.repeat(324)}`, amountOffset: 100 },
  warming: { data: `0x${'00'.repeat(10_000)}`, gas: 1_000_000 },
  points: [
    { amount: -10n, gasLimit: 100 },
    { amount: -20n, gasLimit: 200 },
    { amount: -30n, gasLimit: 300 },
    { amount: 99n, gasLimit: 400 },
  ],
};

const header = (amount: bigint, kept: number): Hex =>
  concatHex([numberToHex(amount, { size: 16, signed: true }), numberToHex(kept, { size: 1 })]);
const word = (amount0: bigint, amount1: bigint): Hex =>
  concatHex([numberToHex(amount0, { size: 16, signed: true }), numberToHex(amount1, { size: 16, signed: true })]);
const answerOf = (done: boolean, ...records: readonly Hex[]): Hex =>
  encodeAbiParameters(parseAbiParameters('uint256, uint256, uint256, bool, bytes'), [
    ...([31_337n, 5n, 1_700_000_000n, done] as const),
    records.length > 0 ? concatHex(records) : '0x',
  ]);

test('records are read with signed amounts, refusals without', () => {
  const answer = answerOf(
    false,
    concatHex([header(-10n, 32), word(7n, -10n)]),
    concatHex([header(-20n, 4), '0x12345678']),
    header(-15n, 0),
    concatHex([header(1n, 4), toFunctionSelector('FinalAmountIsZero()')]),
  );
  expect(decodeWalk(answer)).toEqual({
    done: false,
    records: [
      { amount: -10n, outcome: 'fills', fill: { amount0Delta: 7n, amount1Delta: -10n } },
      { amount: -20n, outcome: 'refused', fill: null },
      { amount: -15n, outcome: 'silence', fill: null },
      { amount: 1n, outcome: 'tooSmall', fill: null },
    ],
  });
  expect(decodeWalk(answerOf(true)).records).toEqual([]);
  expect(() => decodeWalk(answerOf(true, header(-10n, 32)))).toThrow();
  expect(() => decodeWalk('0x')).toThrow();
});

test('a walk of two hundred points with its storage stays within what creation code may be', () => {
  const points = Array.from({ length: 200 }, (_, index) => ({ amount: -BigInt(index + 1), gasLimit: 1 }));
  expect(size(encodeWalk({ ...walk, points }))).toBeLessThan(MAX_CODE_BYTES / 2);
});
