import fc from 'fast-check';
import { type Hex, numberToHex } from 'viem';
import { expect, test, vi } from 'vitest';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import { maxBigint, minBigint } from '../../protocol/fixed-point.ts';
import { joinObjects } from '../../runtime/joined-json.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { HeadTracker } from '../heads/head-tracker.ts';
import { namedTarget, targetOf } from '../live/target-block.ts';
import { SharedHeads } from './shared-heads.ts';

const BLOCK_MS = 2_000;
const hashOf = (number: bigint): Hex => numberToHex(number, { size: 32 });
const headerOf = (number: bigint) => ({
  number,
  hash: hashOf(number),
  timestamp: 2n * number,
  parents: [hashOf(number - 1n)],
});

/** Processes that tell each other of heads; time is that of the newest block. */
function startProcesses() {
  const clock = { ms: 0 };
  const all: SharedHeads[] = [];
  const unknown = () => Promise.reject(new Error('the node has nothing else'));
  const start = () => {
    const clocks = { now: () => clock.ms, wallClock: () => clock.ms };
    const pace = { blockTimeMs: BLOCK_MS, minRefreshMs: 0 };
    const heads = new HeadTracker<ReportedHead>(
      { head: unknown, otherHeads: unknown, header: unknown },
      { ...pace, ...clocks },
    );
    const id = JSON.stringify({ id: `${all.length}` });
    const publish = async (text: string) => {
      for (const other of all) if (other !== shared) other.take(joinObjects(id, text));
    };
    const shared = new SharedHeads({ heads, target: namedTarget(heads), publish });
    all.push(shared);
    shared.ask();
    return {
      heads,
      see(number: bigint, exists = true) {
        if (exists) clock.ms = Math.max(clock.ms, Number(number) * BLOCK_MS);
        heads.push({ block: headerOf(number), endpoint: null });
      },
      /** The number of a frame that was read at a block, with or without overrides of a later one. */
      nameAt(number: bigint, pendingNumber?: bigint): bigint {
        const pending = { timestamp: 2n * number, overrides: new Map(), digest: '', receivedAt: 0 };
        const block = headerOf(number);
        const read =
          pendingNumber === undefined ? block : { ...block, pending: { ...pending, blockNumber: pendingNumber } };
        return targetOf(read, { heads, blockTimeMs: BLOCK_MS }).blockNumber;
      },
    };
  };
  return { start };
}

test('a process whose nodes are a block behind names the block being built as others do', () => {
  const { start } = startProcesses();
  const [ahead, behind] = [start(), start()];
  for (let number = 10n; number < 20n; number += 1n) {
    ahead.see(number + 1n);
    behind.see(number);
    expect([ahead.nameAt(number + 1n), behind.nameAt(number)]).toEqual([number + 2n, number + 2n]);
  }
  behind.see(20n);
  expect(behind.nameAt(20n)).toBe(21n);
});

test('the block after the next, which one process named, is named by others too, also after its overrides ended', () => {
  const { start } = startProcesses();
  const [one, other] = [start(), start()];
  for (const process of [one, other]) process.see(10n);
  expect(one.nameAt(10n, 12n)).toBe(12n);
  expect([one.nameAt(10n), other.nameAt(10n)]).toEqual([12n, 12n]);
  const later = start();
  later.see(10n);
  expect(later.nameAt(10n)).toBe(12n);
  other.see(11n);
  expect(other.nameAt(11n)).toBe(12n);
  other.see(12n);
  expect(other.nameAt(12n)).toBe(13n);
});

test('what a process named counts no more once its chain went back, nor what it said of that to others', async () => {
  const { start } = startProcesses();
  const [one, other] = [start(), start()];
  one.see(11n);
  expect(one.nameAt(11n, 13n)).toBe(13n);
  other.see(10n);
  one.heads.push({ block: { ...headerOf(10n), hash: '0xb0' }, endpoint: null });
  await vi.waitFor(() => expect(one.heads.current?.block.number).toBe(10n));
  for (const process of [one, other]) process.see(11n);
  expect([one.nameAt(11n), other.nameAt(11n)]).toEqual([12n, 12n]);
});

test('a head far above that one process takes, and what it names there, changes no name elsewhere', async () => {
  const { start } = startProcesses();
  const [fooled, other] = [start(), start()];
  for (const process of [fooled, other]) process.see(10n);
  fooled.see(20n, false);
  await vi.waitFor(() => expect(fooled.heads.current?.block.number).toBe(20n));
  expect(fooled.nameAt(20n, 22n)).toBe(22n);
  // Nodes refuse to read there.
  fooled.heads.reject({ block: headerOf(20n), endpoint: null });
  for (let number = 11n; number < 30n; number += 1n) {
    for (const process of [fooled, other]) process.see(number);
    expect([fooled.nameAt(number), other.nameAt(number)]).toEqual([number + 1n, number + 1n]);
  }
});

test('a process that stays at a head that does not exist changes one name, by one', async () => {
  const { start } = startProcesses();
  const [fooled, other] = [start(), start()];
  for (const process of [fooled, other]) process.see(10n);
  fooled.see(20n, false);
  await vi.waitFor(() => expect(fooled.heads.current?.block.number).toBe(20n));
  fooled.nameAt(20n, 22n);
  const changed: bigint[] = [];
  for (let number = 11n; number < 30n; number += 1n) {
    other.see(number);
    const name = other.nameAt(number);
    if (name !== number + 1n) changed.push(name - number);
  }
  expect(changed).toEqual([2n]);
});

const step = fc.record({
  process: fc.nat(2),
  isSeen: fc.boolean(),
  below: fc.bigInt(0n, 1n),
  ahead: fc.option(fc.bigInt(1n, 2n), { nil: undefined }),
  lie: fc.option(fc.bigInt(0n, 40n), { nil: undefined }),
});

test('property: while nodes are a block apart at most, a reader sees no lower number at another process, whatever one of them believes', () => {
  let kept = 0;
  const property = fc.property(fc.array(step, { minLength: 5, maxLength: 60 }), (steps) => {
    const { start } = startProcesses();
    const processes = [start(), start(), start()];
    const fooled = start();
    const seen = [100n, 100n, 100n];
    for (const process of [...processes, fooled]) process.see(100n);
    let [last, lastIndex] = [0n, -1];
    for (const { process: index, isSeen, below, ahead, lie } of steps) {
      if (lie !== undefined) fooled.see(200n + lie, false);
      const process = processes[index];
      const at = seen[index];
      if (!process || at === undefined) continue;
      const lowest = seen.reduce(minBigint);
      if (isSeen && at === lowest) {
        seen[index] = at + 1n;
        process.see(at + 1n);
      }
      // What a process read before is not shown to readers who come from another one.
      const top = (seen[index] ?? at) - (index === lastIndex && ahead === undefined ? below : 0n);
      const read = top + (ahead ?? 1n);
      const shown = process.nameAt(top, ahead && read);
      if (shown > read) kept += 1;
      expect(shown).toBeGreaterThanOrEqual(last);
      expect(shown).toBeGreaterThanOrEqual(read);
      expect(shown).toBeLessThanOrEqual(seen.reduce(maxBigint) + 2n);
      [last, lastIndex] = [shown, index];
    }
  });
  fc.assert(property, { numRuns: runs(300) });
  expect(kept).toBeGreaterThan(500);
});
