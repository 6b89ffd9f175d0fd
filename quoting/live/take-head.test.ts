import fc from 'fast-check';
import type { Hex } from 'viem';
import { expect, test } from 'vitest';
import type { PartView } from '../../chain/pending-state.ts';
import { type LiveInputs, noLiveHead } from './live-head-state.ts';
import { takeHead } from './take-head.ts';

const PACE = { blockTimeMs: 2_000, maxAgeMs: 600, spacingMs: 20 };
const hashOf = (number: bigint, branch: number): Hex => `0x${number}${branch}`;

const committedAt = (number: bigint, branch = 0): LiveInputs['committed'] => ({
  block: {
    number,
    hash: hashOf(number, branch),
    timestamp: 1_000n + 2n * number,
    parents: [hashOf(number - 1n, branch)],
  },
  endpoint: null,
});

/** Inputs with a part of a block, built on a branch; null: the node does not say on which. */
function inputsOf(committed: LiveInputs['committed'], blockNumber: bigint, branch: number | null): LiveInputs {
  const parentHash = branch === null ? null : hashOf(blockNumber - 1n, branch);
  const view: PartView = { blockNumber, timestamp: 1_000n + 2n * blockNumber, parentHash, feesWei: 5n };
  const part = { view, index: null, multicall3: '0xca' } as const;
  const overrides = { ...view, overrides: new Map(), digest: `${blockNumber} ${parentHash}`, receivedAt: 0, part };
  return { committed, top: committed?.block.number ?? 0n, overrides, protectedAccounts: new Set() };
}

const pendingOf = (state: ReturnType<typeof takeHead>) => state.taken?.head.block.pending?.blockNumber;

test('a part is not used on a block that took the place of its parent', () => {
  const used = takeHead(noLiveHead, inputsOf(committedAt(9n), 10n, 0), 1, PACE);
  expect(pendingOf(used)).toBe(10n);
  expect(pendingOf(takeHead(used, inputsOf(committedAt(9n, 1), 10n, 0), 2, PACE))).toBeUndefined();
  expect(pendingOf(takeHead(used, inputsOf(committedAt(9n, 1), 10n, null), 2, PACE))).toBe(10n);
  const early = takeHead(noLiveHead, inputsOf(committedAt(8n), 10n, 0), 1, PACE);
  expect(pendingOf(early)).toBe(10n);
  expect(pendingOf(takeHead(early, inputsOf(committedAt(9n, 1), 10n, 0), 2, PACE))).toBeUndefined();
  expect(pendingOf(takeHead(early, inputsOf(committedAt(9n), 10n, 0), 2, PACE))).toBe(10n);
});

const step = fc.record({
  number: fc.bigInt({ min: 7n, max: 9n }),
  headBranch: fc.nat(1),
  partNumber: fc.bigInt({ min: 9n, max: 11n }),
  partBranch: fc.option(fc.nat(1)),
});

test('property: of a part on a committed block, that block is the parent', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      let state = noLiveHead;
      for (const [now, { number, headBranch, partNumber, partBranch }] of steps.entries()) {
        state = takeHead(state, inputsOf(committedAt(number, headBranch), partNumber, partBranch), now, PACE);
        const { block } = state.taken?.head ?? {};
        const view = block?.pending?.part?.view;
        if (view?.parentHash && view.blockNumber === (block?.number ?? 0n) + 1n)
          expect(view.parentHash).toBe(block?.hash);
      }
    }),
  );
});
