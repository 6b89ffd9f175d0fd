import fc from 'fast-check';
import { type Hex, serializeTransaction } from 'viem';
import { expect, test } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { type PartMessage, pushedPart, readPartMessage } from './pushed-part.ts';

/** What nodes push is whole, lost, repeated, out of order, or malformed: only what was proven counts as unchanged. */

const SIGNATURE = { r: `0x${'1'.repeat(64)}`, s: `0x${'2'.repeat(64)}`, yParity: 0 } as const;

interface Sent {
  readonly runsCode: boolean;
  readonly raw: Hex;
  readonly hash: Hex;
}

const anySent = fc.record({ runsCode: fc.boolean(), nonce: fc.nat() }).map(({ runsCode, nonce }): Sent => {
  const gas = runsCode ? 50_000n : 21_000n;
  const raw = serializeTransaction({ type: 'eip1559', chainId: 1, nonce, gas }, SIGNATURE);
  return { runsCode, raw, hash: `0x${nonce.toString(16)}${runsCode ? 1 : 0}` };
});

/** The parts of some blocks, by their transactions. */
const anyBlocks = fc.array(fc.array(fc.array(anySent, { maxLength: 2 }), { minLength: 1, maxLength: 6 }), {
  minLength: 1,
  maxLength: 3,
});

interface Pushed {
  /** What quotes depend on after this part. */
  readonly state: string;
  readonly message: object;
}

function messagesOf(blocks: readonly (readonly (readonly Sent[])[])[], form: 'block' | 'payload'): readonly Pushed[] {
  return blocks.flatMap((parts, block) => {
    const number = 10 + block;
    return parts.map((part, index): Pushed => {
      const all = parts.slice(0, index + 1).flat();
      const state = JSON.stringify([number, all.filter(({ runsCode }) => runsCode).map(({ hash }) => hash)]);
      const inBlock = all.map(({ hash, runsCode }) => ({ hash, gas: runsCode ? '0xc350' : '0x5208', input: '0x' }));
      const ofBlock = { number: `0x${number.toString(16)}`, parentHash: `0x${number - 1}`, transactions: inBlock };
      const ofPayload = {
        payload_id: `0x${number}`,
        index,
        ...(index === 0 && { base: { block_number: `0x${number.toString(16)}` } }),
        diff: { transactions: part.map(({ raw }) => raw) },
        metadata: { block_number: number, ...(index > 0 && { prev_flashblock_id: `${number}-${index - 1}` }) },
      };
      return { state, message: form === 'block' ? ofBlock : ofPayload };
    });
  });
}

const FIELDS = [
  'payload_id',
  'index',
  'diff',
  'diff.transactions',
  'diff.transactions.0',
  'metadata',
  'metadata.block_number',
  'metadata.prev_flashblock_id',
  'base',
  'number',
  'parentHash',
  'transactions',
  'transactions.0',
] as const;

/** What happens to a message: it is lost, comes late, or has other fields. */
const anyFate = fc.record({
  kind: fc.constantFrom('whole', 'whole', 'whole', 'lost', 'twice', 'late', 'other' as const),
  field: fc.constantFrom(...FIELDS),
  value: fc.oneof(
    fc.jsonValue().filter((value) => !Array.isArray(value)),
    fc.constant(undefined),
  ),
});

/** The message with another value of a field, as JSON. */
function withOther(message: object, path: string, value: unknown): unknown {
  const other = structuredClone(message);
  const names = path.split('.');
  let at: unknown = other;
  for (const name of names.slice(0, -1)) at = (at as Record<string, unknown> | undefined)?.[name];
  const last = names.at(-1) as string;
  if (typeof at === 'object' && at !== null && last in at) (at as Record<string, unknown>)[last] = value;
  return JSON.parse(JSON.stringify(other));
}

test.each(['block', 'payload'] as const)(
  'property: in the form of a %s, what is unchanged has the state before',
  (form) => {
    let known = 0;
    fc.assert(
      fc.property(anyBlocks, fc.array(anyFate, { minLength: 18, maxLength: 18 }), (blocks, fates) => {
        const pushed = messagesOf(blocks, form).flatMap(
          (each, index): (Omit<Pushed, 'message'> & { message: unknown })[] => {
            const { kind, field, value } = fates[index] ?? { kind: 'whole', field: '', value: null };
            if (kind === 'lost') return [];
            if (kind === 'other') return [{ ...each, message: withOther(each.message, field, value) }];
            return kind === 'twice' ? [each, each] : [each];
          },
        );
        for (const [index, { kind }] of fates.entries()) {
          const [one, other] = pushed.slice(index, index + 2);
          if (kind === 'late' && one && other) pushed.splice(index, 2, other, one);
        }
        let before: { readonly message: PartMessage; readonly state: string } | undefined;
        for (const { message: result, state } of pushed) {
          const message = readPartMessage(result, before?.message);
          if (message && pushedPart(before?.message, message).isUnchanged) {
            known += 1;
            expect(state).toBe(before?.state);
          }
          before = message && { message, state };
        }
      }),
      { numRuns: runs(200) },
    );
    expect(known).toBeGreaterThan(0);
  },
);

test('property: whatever is pushed, it is read or left', () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue()), (results) => {
      let before: PartMessage | undefined;
      for (const result of results) {
        const message = readPartMessage(result, before);
        if (message) expect(pushedPart(before, message).blockNumber).toBeGreaterThanOrEqual(0n);
        before = message;
      }
    }),
  );
});
