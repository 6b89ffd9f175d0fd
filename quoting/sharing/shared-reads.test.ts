import fc from 'fast-check';
import { type Hex, numberToHex } from 'viem';
import { expect, test } from 'vitest';
import type { BlockHeader, BlockRef } from '../../chain/chain-rpc.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { FollowedReads } from './followed-reads.ts';
import { parseFromLeader, writeBeat } from './messages.ts';
import { PublishedReads } from './published-reads.ts';

const NAMES = ['answers:0xa', 'answers:0xb', 'sides:0xa'];
const WAITS = 'waits';

const blockAt = (number: number, fork = 0): BlockHeader => ({
  number: BigInt(number),
  hash: numberToHex(1_000 * fork + number, { size: 32 }),
  parents: [numberToHex(1_000 * fork + number + 99, { size: 32 })],
  timestamp: BigInt(1_700_000_000 + number),
});

function follow() {
  const clock = { ms: 0 };
  const heads: Hex[] = [];
  const followed = new FollowedReads({ now: () => clock.ms, onHead: ({ hash }) => heads.push(hash) });
  const take = (messages: readonly string[]) => {
    for (const message of messages) followed.take(parseFromLeader(message));
  };
  /** What is found now, or that it is waited for. */
  const find = (name: string, { hash }: BlockRef) => {
    const waits = new Promise((resolve) => setImmediate(() => resolve(WAITS)));
    return Promise.race([followed.find(name, hash), waits]);
  };
  return { clock, heads, followed, take, find };
}

const read = (published: PublishedReads, block: BlockHeader, values: Readonly<Record<string, unknown>>) => {
  published.begin(block);
  for (const [name, value] of Object.entries(values)) published.settle(block, name, JSON.stringify(value));
  return published.drain();
};

/** What the chain has under a name at a block: often the same as at the one before. */
const onChain = (name: string, { number, hash }: BlockRef): number =>
  Number((number + BigInt(hash) / 1_000n + BigInt(NAMES.indexOf(name))) / 3n);

type Step =
  | { readonly do: 'block'; readonly fork: number }
  | { readonly do: 'settle'; readonly name: string; readonly isRead: boolean }
  | { readonly do: 'read' | 'send' | 'lose' | 'end' | 'beat' | 'elect' | 'repeat' | 'whole' };

const others = ['lose', 'end', 'beat', 'elect', 'repeat', 'whole'] as const;
const block = fc.record({ do: fc.constant('block' as const), fork: fc.nat(1) });
const settle = fc.record({ do: fc.constant('settle' as const), name: fc.constantFrom(...NAMES), isRead: fc.boolean() });
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: block },
  { weight: 8, arbitrary: settle },
  { weight: 10, arbitrary: fc.record({ do: fc.constantFrom('read' as const, 'send') }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constantFrom(...others) }) },
);

test('whatever is lost, repeated or late, a follower finds what the chain has at the block, or nothing', async () => {
  let found = 0;
  const run = async (steps: readonly Step[]) => {
    const { take, find } = follow();
    const sent: string[] = [];
    let published = new PublishedReads('1');
    let head = blockAt(0);
    published.begin(head);
    const send = () => {
      const messages = published.drain();
      sent.push(...messages);
      take(messages);
    };
    const doStep: { readonly [K in Step['do']]: (step: Extract<Step, { readonly do: K }>) => void } = {
      block: ({ fork }) => {
        head = blockAt(Number(head.number) + 1, fork);
        published.begin(head);
      },
      settle: ({ name, isRead }) => published.settle(head, name, isRead ? String(onChain(name, head)) : null),
      read: () => {
        for (const name of NAMES) published.settle(head, name, String(onChain(name, head)));
        send();
      },
      send,
      lose: () => published.drain(),
      end: () => published.end(head),
      beat: () => take([writeBeat({ token: published.token, seq: published.seq, head: head.hash })]),
      repeat: () => take(sent.slice(0, 1)),
      whole: () => {
        published.demandWhole();
        send();
      },
      elect: () => {
        published = new PublishedReads(String(Number(published.token) + 1));
        published.begin(head);
      },
    };
    for (const each of steps) {
      doStep[each.do](each as never);
      for (const name of NAMES) {
        const value = await find(name, head);
        if (value === undefined || value === WAITS) continue;
        found += 1;
        expect(value).toBe(onChain(name, head));
      }
    }
  };
  await fc.assert(fc.asyncProperty(fc.array(step, { maxLength: 60 }), run), { numRuns: runs(50) });
  expect(found).toBeGreaterThan(300);
});

test('what is the same as at the block before is found, and not sent again', async () => {
  const { take, find, heads } = follow();
  const published = new PublishedReads('1');
  const [one, two] = [blockAt(1), blockAt(2)];
  const long = 'x'.repeat(1_000);
  take(read(published, one, { 'answers:0xa': long, 'answers:0xb': long }));
  const messages = read(published, two, { 'answers:0xa': long, 'answers:0xb': 'other' });
  expect(messages.join('').length).toBeLessThan(500);
  take(messages);
  expect(await find('answers:0xa', two)).toBe(long);
  expect(await find('answers:0xb', two)).toBe('other');
  // Of the block before nothing is known any more.
  expect(await find('answers:0xa', one)).toBeUndefined();
  expect(heads).toEqual([one.hash, two.hash]);
});

test('a read that is under way is waited for; one that failed, or that nobody does, is not', async () => {
  const { take, find, followed, clock } = follow();
  const published = new PublishedReads('1');
  const [one, two] = [blockAt(1), blockAt(2)];
  take(read(published, one, { 'answers:0xa': 1, 'answers:0xb': 1, 'sides:0xa': 1 }));
  take(read(published, two, { 'answers:0xb': 1 }));
  expect(await find('answers:0xb', two)).toBe(1);
  expect(await find('answers:0xc', two)).toBeUndefined();
  const pending = followed.find('answers:0xa', two.hash);
  expect(await find('answers:0xa', two)).toBe(WAITS);
  published.settle(two, 'answers:0xa', null);
  take(published.drain());
  expect(await pending).toBeUndefined();
  expect(await find('sides:0xa', two)).toBe(WAITS);
  published.end(two);
  take(published.drain());
  expect(await find('sides:0xa', two)).toBeUndefined();
  // A leader that says nothing any more is not waited for either.
  take(read(published, blockAt(3), {}));
  const last = followed.find('answers:0xb', blockAt(3).hash);
  clock.ms += 1_001;
  followed.tick();
  expect(await last).toBeUndefined();
  expect(followed.head).toBeNull();
});

test('nobody waits for longer than two seconds for a leader that lives', async () => {
  const { take, followed, clock } = follow();
  const published = new PublishedReads('1');
  take(read(published, blockAt(1), { 'answers:0xa': 1 }));
  take(read(published, blockAt(2), {}));
  const pending = followed.find('answers:0xa', blockAt(2).hash);
  for (const _ of Array.from({ length: 8 })) {
    clock.ms += 300;
    take([writeBeat({ token: '1', seq: published.seq, head: blockAt(2).hash })]);
  }
  expect(await pending).toBeUndefined();
  expect(followed.head).toBe(blockAt(2).hash);
});

test('messages of a process that led before change nothing, its heads neither', async () => {
  const { take, find, heads, followed } = follow();
  const [late, published] = [new PublishedReads('7'), new PublishedReads('8')];
  take(read(late, blockAt(1), { 'answers:0xa': 'late' }));
  take(read(published, blockAt(2), { 'answers:0xa': 'now' }));
  take(read(late, blockAt(3), { 'answers:0xa': 'late' }));
  take([writeBeat({ token: '7', seq: late.seq, head: blockAt(3).hash })]);
  expect(heads).toEqual([blockAt(1).hash, blockAt(2).hash]);
  expect(await find('answers:0xa', blockAt(3))).toBeUndefined();
  expect(await find('answers:0xa', blockAt(2))).toBe('now');
  expect([followed.isBehind, followed.head, followed.token]).toEqual([false, blockAt(2).hash, '8']);
});

test('after a missed message nothing is found until one is whole', async () => {
  const { take, find, followed } = follow();
  const published = new PublishedReads('1');
  const [one, two, three] = [blockAt(1), blockAt(2), blockAt(3)];
  take(read(published, one, { 'answers:0xa': 1 }));
  read(published, two, { 'answers:0xa': 2 });
  take(read(published, three, { 'answers:0xa': 2 }));
  expect([followed.isBehind, await find('answers:0xa', three)]).toEqual([true, undefined]);
  published.demandWhole();
  take(published.drain());
  expect([followed.isBehind, await find('answers:0xa', three)]).toEqual([false, 2]);
});

test('what is published of a chain is bounded', async () => {
  const { take, find } = follow();
  const published = new PublishedReads('1', 1_000);
  const [one, two] = [blockAt(1), blockAt(2)];
  take(read(published, one, { 'answers:0xa': 'x'.repeat(600), 'answers:0xb': 'x'.repeat(600), 'sides:0xa': 'x' }));
  expect(await find('answers:0xa', one)).toHaveLength(600);
  expect(await find('answers:0xb', one)).toBeUndefined();
  expect(await find('sides:0xa', one)).toBe('x');
  // What is not read any more makes room.
  take(read(published, two, {}));
  take(read(published, blockAt(3), { 'answers:0xb': 'x'.repeat(600) }));
  expect(await find('answers:0xb', blockAt(3))).toHaveLength(600);
});
