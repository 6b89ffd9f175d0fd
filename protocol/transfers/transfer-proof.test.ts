import { join } from 'node:path';
import type { Address } from 'viem';
import { expect, test } from 'vitest';
import { compileCode } from '../../devnet/compile-code.ts';
import { packBoundedCalls } from '../bounded-calls/run-bounded-calls.ts';
import { transferCall } from './transfer-proof.ts';
import { TRANSFER_PROOF_CODE } from './transfer-proof-code.ts';

/** The compiler takes its time on a busy machine. */
const COMPILER_TIMEOUT_MS = 300_000;

test(
  'the committed code is what the compiler makes of the source',
  () => {
    const source = join(import.meta.dirname, 'TransferProof.sol');
    expect(compileCode(source, 'deployedBytecode')).toBe(TRANSFER_PROOF_CODE);
  },
  COMPILER_TIMEOUT_MS,
);

test('a hundred pools share one call', () => {
  const address = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`;
  const groups = Array.from({ length: 100 }, (_, pool) =>
    [1, 2].map((token) => transferCall(address(pool), address(token), 1n << 128n)),
  );
  expect(packBoundedCalls(groups, ({ likelyGas }) => likelyGas)).toHaveLength(1);
});
