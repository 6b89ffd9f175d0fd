import fc from 'fast-check';
import { numberToHex } from 'viem';
import { expect, test } from 'vitest';
import type { BlockHeader } from '../../chain/read-context.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { BlockReads } from './block-reads.ts';
import { parseReads } from './messages.ts';

const NAMES = ['answers:0xa', 'answers:0xb', 'sides:0xa'];
const PROCESSES = 3;

const blockAt = (number: number, fork = 0): BlockHeader => ({
  number: BigInt(number),
  hash: numberToHex(1_000 * fork + number, { size: 32 }),
  parents: [numberToHex(1_000 * fork + number + 99, { size: 32 })],
  timestamp: BigInt(1_700_000_000 + number),
});

/** What the chain has under a name at a block: often the same as at the one before. */
const onChain = (name: string, { number, hash }: BlockHeader): number =>
  Number((number + BigInt(hash) / 1_000n + BigInt(NAMES.indexOf(name))) / 3n);

const read = (reads: BlockReads, block: BlockHeader, values: Readonly<Record<string, unknown>>) => {
  for (const [name, value] of Object.entries(values)) reads.add(block, name, JSON.stringify(value));
  return reads.drain().join('');
};
const take = (reads: BlockReads, message: string) => reads.take(parseReads(message));

const process = fc.nat(PROCESSES - 1);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('block' as const), fork: fc.nat(1) }) },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('read' as const), process, names: fc.subarray(NAMES) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constantFrom('fail' as const, 'remember' as const),
      process,
      name: fc.constantFrom(...NAMES),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('forget' as const, 'end' as const), process }) },
  // Messages come late, twice, in any order or never.
  { weight: 12, arbitrary: fc.record({ do: fc.constant('deliver' as const), process, message: fc.nat() }) },
);

test('whatever is lost, repeated or late, a process finds what the chain has at the block, or nothing', () => {
  let found = 0;
  fc.assert(
    fc.property(fc.array(step, { minLength: 30, maxLength: 120 }), (steps) => {
      const processes = Array.from({ length: PROCESSES }, () => new BlockReads());
      const blocks = [blockAt(0)];
      const sent: string[] = [];
      const send = (of: BlockReads) => {
        sent.push(...of.drain());
      };
      for (const each of steps) {
        const head = blocks.at(-1) as BlockHeader;
        const own = 'process' in each ? (processes[each.process] as BlockReads) : undefined;
        if (each.do === 'block') blocks.push(blockAt(Number(head.number) + 1, each.fork));
        if (each.do === 'read') for (const name of each.names) own?.add(head, name, String(onChain(name, head)));
        if (each.do === 'remember') own?.remember(each.name, String(onChain(each.name, head)));
        if (each.do === 'fail') own?.add(head, each.name, null);
        if (each.do === 'end') own?.end(head);
        if (each.do === 'forget') own?.forget();
        if (each.do === 'deliver' && sent.length > 0)
          take(own as BlockReads, sent.at(-1 - (each.message % Math.min(4, sent.length))) ?? '');
        else if (own) send(own);
        for (const block of blocks) {
          for (const name of NAMES) {
            for (const reads of processes) {
              const value = reads.find(name, block.hash);
              if (typeof value === 'string') continue;
              found += 1;
              expect(value).toEqual({ value: onChain(name, block) });
            }
          }
        }
      }
    }),
    { numRuns: runs(100) },
  );
  expect(found).toBeGreaterThan(300);
});

test('what a process has of an earlier block is not sent again', () => {
  const [one, other] = [new BlockReads(), new BlockReads()];
  const [first, second] = [blockAt(1), blockAt(2)];
  const long = 'x'.repeat(1_000);
  take(other, read(one, first, { 'answers:0xa': long, 'answers:0xb': long }));
  const message = read(one, second, { 'answers:0xa': long, 'answers:0xb': 'other' });
  expect(message.length).toBeLessThan(600);
  take(other, message);
  expect(other.find('answers:0xa', second.hash)).toEqual({ value: long });
  expect(other.find('answers:0xb', second.hash)).toEqual({ value: 'other' });
  expect(other.find('answers:0xb', first.hash)).toEqual({ value: long });
});

test('what a process read itself counts as sent to it', () => {
  const [one, other] = [new BlockReads(), new BlockReads()];
  read(one, blockAt(1), { 'answers:0xa': 'value', 'answers:0xb': 'value' });
  other.remember('answers:0xa', '"value"');
  take(other, read(one, blockAt(2), { 'answers:0xa': 'value', 'answers:0xb': 'value' }));
  expect(other.find('answers:0xa', blockAt(2).hash)).toEqual({ value: 'value' });
  expect(other.find('answers:0xb', blockAt(2).hash)).toBe('absent');
  one.forget();
  take(other, read(one, blockAt(3), { 'answers:0xb': 'value' }));
  expect(other.find('answers:0xb', blockAt(3).hash)).toEqual({ value: 'value' });
});

test('what a process read itself replaces nothing that others name by its digest', () => {
  const [one, other] = [new BlockReads(), new BlockReads()];
  take(other, read(one, blockAt(1), { 'answers:0xa': 'value' }));
  for (const number of [2, 3]) {
    // Nodes may give the same answers in other words.
    other.remember('answers:0xa', `"value, as read at ${number}"`);
    take(other, read(one, blockAt(number), { 'answers:0xa': 'value' }));
    expect(other.find('answers:0xa', blockAt(number).hash)).toEqual({ value: 'value' });
  }
});

test('what failed or will not come is absent, what may come is unknown', () => {
  const [one, other] = [new BlockReads(), new BlockReads()];
  const block = blockAt(1);
  expect(other.find('answers:0xa', block.hash)).toBe('unknown');
  one.add(block, 'answers:0xa', null);
  for (const message of one.drain()) take(other, message);
  expect([other.find('answers:0xa', block.hash), other.find('sides:0xa', block.hash)]).toEqual(['absent', 'unknown']);
  one.end(block);
  for (const message of one.drain()) take(other, message);
  expect(other.find('sides:0xa', block.hash)).toBe('absent');
  expect(one.drain()).toEqual([]);
});

test('a message is bounded: the rest is read by each', () => {
  const [one, other] = [new BlockReads(1_000), new BlockReads()];
  const block = blockAt(1);
  take(other, read(one, block, { 'answers:0xa': 'x'.repeat(600), 'answers:0xb': 'x'.repeat(601), 'sides:0xa': 'x' }));
  expect(other.find('answers:0xb', block.hash)).toBe('absent');
  expect(other.find('sides:0xa', block.hash)).toEqual({ value: 'x' });
});
