import { join } from 'node:path';
import fc from 'fast-check';
import { concatHex, encodeAbiParameters, type Hex, numberToHex, parseAbiParameters, size } from 'viem';
import { expect, test } from 'vitest';
import { compileCode } from '../../devnet/compile-code.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { answerBytes, type BoundedCall, callBytes, decodeBoundedCalls, encodeBoundedCalls } from './bounded-calls.ts';
import { BOUNDED_CALLS_CODE } from './bounded-calls-code.ts';
import { CALLS_DIGEST_CODE } from './calls-digest-code.ts';
import { packBoundedCalls, runBoundedCalls } from './run-bounded-calls.ts';

const TARGET = `0x${'ab'.repeat(20)}` as const;
/** What a call may use, what an answer may hold and what creation code may: the protocol's numbers, and a node's. */
const LIMITS = { gas: 50_000_000, code: 49_152, answer: 24_576 };

/** The compiler takes its time on a busy machine. */
const COMPILER_TIMEOUT_MS = 300_000;

test.each([
  ['BoundedCalls.sol', 'bytecode', BOUNDED_CALLS_CODE],
  ['CallsDigest.sol', 'deployedBytecode', CALLS_DIGEST_CODE],
] as const)(
  'the committed code is what the compiler makes of %s',
  (file, part, code) => {
    expect(compileCode(join(import.meta.dirname, file), part)).toBe(code);
  },
  COMPILER_TIMEOUT_MS,
);

const call = fc.record({
  target: fc.constant(TARGET),
  data: fc.integer({ min: 0, max: 3_000 }).map((bytes): Hex => `0x${'00'.repeat(bytes)}`),
  likelyGas: fc.integer({ min: 1, max: 300_000 }),
  gasLimit: fc.integer({ min: 1, max: 3_000_000 }),
  keptBytes: fc.integer({ min: 0, max: 255 }),
});
const groupsOf = fc.array(fc.array(call, { minLength: 1, maxLength: 3 }), { maxLength: 60 });
const sum = (calls: readonly BoundedCall[], of: (call: BoundedCall) => number) =>
  calls.reduce((total, one) => total + of(one), 0);

test('chunks keep groups whole and in order, and stay within what a node and the protocol allow', () => {
  fc.assert(
    fc.property(groupsOf, fc.constantFrom('likelyGas' as const, 'gasLimit' as const), (groups, key) => {
      const chunks = packBoundedCalls(groups, (one) => one[key]);
      expect(chunks.flat()).toEqual(groups);
      for (const calls of chunks.map((chunk) => chunk.flat())) {
        expect(sum(calls, (one) => one[key])).toBeLessThan(LIMITS.gas);
        expect(size(encodeBoundedCalls(calls))).toBeLessThan(LIMITS.code);
        expect(sum(calls, answerBytes) + 6 * 32).toBeLessThan(LIMITS.answer);
        expect(sum(calls, callBytes)).toBeLessThan(LIMITS.code);
      }
    }),
    { numRuns: runs(10) },
  );
});

/** A node that has this much gas for a call and whose contracts burn what `burns` says; it begins what still fits. */
function nodeWith(gas: number, burns: (call: BoundedCall) => number, sent: number[]) {
  return async (calls: readonly BoundedCall[]) => {
    sent.push(calls.length);
    let left = gas;
    const results = calls.map((one) => {
      if (left < one.gasLimit * (25 / 24)) return null;
      left -= Math.min(burns(one), one.gasLimit);
      return { success: true, data: one.data, gasUsed: burns(one) };
    });
    return { chainId: 1n, blockNumber: BigInt(sent.length), blockTimestamp: 7n, results };
  };
}

test('whatever the contracts burn, every group has its answer after two rounds', async () => {
  await fc.assert(
    fc.asyncProperty(groupsOf, fc.double({ min: 0, max: 1, noNaN: true }), async (groups, share) => {
      const sent: number[] = [];
      const burns = ({ gasLimit }: BoundedCall) => gasLimit * share;
      const answers = await runBoundedCalls(groups, nodeWith(LIMITS.gas - 6_000_000, burns, sent));
      const echoed = answers.map((answer) => answer?.results.map(({ data }) => data));
      expect(echoed).toEqual(groups.map((group) => group.map(({ data }) => data)));
      const most = Math.ceil(sum(groups.flat(), ({ gasLimit }) => gasLimit) / 20_000_000);
      const bytes =
        Math.ceil(sum(groups.flat(), callBytes) / 20_000) + Math.ceil(sum(groups.flat(), answerBytes) / 10_000);
      expect(sent.length).toBeLessThanOrEqual(2 * (most + bytes) + 2);
    }),
    { numRuns: runs(15) },
  );
});

test('a node that gives less gas than a call may take leaves its group unanswered', async () => {
  const expensive = { target: TARGET, data: '0x', likelyGas: 1, gasLimit: 3_000_000, keptBytes: 0 } as const;
  const cheap = { ...expensive, gasLimit: 1_000 };
  const answers = await runBoundedCalls(
    [[expensive], [cheap]],
    nodeWith(1_000_000, () => 0, []),
  );
  expect(answers.map((answer) => answer === null)).toEqual([true, false]);
});

const answerOf = (packed: Hex): Hex =>
  encodeAbiParameters(parseAbiParameters('uint256, uint256, uint256, bytes'), [5n, 6n, 7n, packed]);

test('answers are distinguished: not begun, failed, succeeded', () => {
  const packed = concatHex(['0x00000000', '0x00010102beef', '0x01000200', '0xffff0203c0ffee']);
  expect(decodeBoundedCalls(answerOf(packed), 4)).toEqual({
    chainId: 5n,
    blockNumber: 6n,
    blockTimestamp: 7n,
    results: [
      null,
      { success: false, data: '0xbeef', gasUsed: 1_000 },
      { success: true, data: '0x', gasUsed: 256_000 },
      { success: true, data: '0xc0ffee', gasUsed: 65_535_000 },
    ],
  });
});

test.each([
  ['nothing', '0x'],
  ['noise', `0x${'ab'.repeat(640)}`],
  ['too few results', answerOf('0x00010200')],
  ['a result that is cut', answerOf('0x0001020000010204aaaa')],
] as const)('an answer of %s is an error', (_name, answer) => {
  expect(() => decodeBoundedCalls(answer, 2)).toThrow();
});

// Bytes of calldata: those of the call fill 30 bytes, one word, and two.
test.each([3, 5, 37])('calls with %s bytes of calldata are packed as the code unpacks them', (count) => {
  const data: Hex = `0x${'c0'.repeat(count)}`;
  const one = { target: TARGET, data, likelyGas: 1, gasLimit: 3_000_000, keptBytes: 64 } as const;
  const limit = numberToHex(3_000_000, { size: 4 });
  const packed = concatHex([TARGET, limit, '0x40', numberToHex(count, { size: 2 }), data]);
  for (const times of [0, 1, 3]) {
    const calls = concatHex(Array.from({ length: times }, () => packed));
    const args = encodeAbiParameters(parseAbiParameters('uint256, bytes'), [BigInt(68 * times), calls]);
    expect(encodeBoundedCalls(Array.from({ length: times }, () => one))).toBe(concatHex([BOUNDED_CALLS_CODE, args]));
  }
  expect(callBytes(one)).toBe(size(packed));
});
