import type { Address } from 'viem';
import { expect, test } from 'vitest';
import type { ServedPool } from '../pools/pool-directory.ts';
import type { SealedPools } from './divergence.ts';
import { AGREED_MS } from './next-divergence.ts';
import { SealedChecks } from './sealed-checks.ts';
import { blockOf, hashOf, POOLS, partOf, shownBy, snapshotOf, timeOf } from './sealed-pools.fixture.ts';

function checksOf(isFunded: (pool: ServedPool) => boolean = () => true) {
  const [outcomes, lines, found]: [string[], string[], SealedPools[]] = [[], [], []];
  let clock = 0;
  const log = (_: unknown, text: string) => lines.push(text);
  const checks = new SealedChecks({
    isFunded,
    observer: { sealed: (outcome) => outcomes.push(outcome) },
    logger: { info: log, warn: log } as never,
    now: () => clock,
  });
  checks.onCompared((pools) => found.push(pools));
  const seal = async (number: bigint, feesWei: bigint, states: Readonly<Record<Address, string>>) => {
    checks.noteFees(blockOf(number), feesWei);
    for (const [pool, state] of Object.entries(states))
      checks.note(snapshotOf(pool as Address, blockOf(number), state));
    await null;
  };
  const wait = (ms: number) => {
    clock += ms;
  };
  return { checks, outcomes, lines, found, seal, wait };
}

const [A, B] = POOLS as [Address, Address];

test('the last part that a pool was read after is compared, once, with the sealed block', async () => {
  const { checks, outcomes, found, seal } = checksOf();
  for (const read of [partOf(A, 10n, 7n, 'new'), partOf(A, 10n, 5n, 'old'), partOf(B, 10n, 7n, 'b')]) checks.note(read);
  await seal(10n, 7n, { [A]: 'new', [B]: 'other' });
  await seal(10n, 7n, { [A]: 'new', [B]: 'other' });
  expect(outcomes).toEqual(['same', 'different']);
  expect(found).toEqual([{ blockNumber: 10n, timestamp: timeOf(10n), same: [A], different: [B] }]);
});

test('nothing is compared after which more happened, or of which one side is not known', async () => {
  const { checks, outcomes, found, seal } = checksOf();
  checks.note(partOf(A, 10n, 7n, 'old'));
  checks.note(partOf(B, 10n, 7n, 'old'));
  checks.note(snapshotOf(A, blockOf(9n), 'no part'));
  await seal(10n, 8n, { [A]: 'new' });
  checks.note(snapshotOf(B, blockOf(11n), 'old'));
  // Its fees are not known: another process read it.
  checks.note(snapshotOf(B, { ...blockOf(10n), hash: hashOf(77n) }, 'new'));
  expect([outcomes, found]).toEqual([['unseen'], []]);
});

test('parts of the next blocks may come before a block is compared; older ones are forgotten', async () => {
  const { checks, outcomes, seal } = checksOf();
  for (const number of [10n, 11n, 12n, 13n]) checks.note(partOf(A, number, 7n, 'a'));
  for (const number of [10n, 11n, 12n, 13n]) await seal(number, 7n, { [A]: 'a' });
  expect(outcomes).toEqual(['same', 'same', 'same']);
});

test('pools that differ make parts divergent, until all agreed for a minute', async () => {
  const { checks, lines, seal, wait } = checksOf();
  const pass = (number: bigint, sealedState: string) => {
    for (const pool of POOLS) checks.note(partOf(pool, number, 7n, 'a'));
    return seal(number, 7n, Object.fromEntries(POOLS.map((pool) => [pool, sealedState])));
  };
  await pass(10n, 'b');
  expect([checks.isDivergent(undefined), lines.length]).toEqual([true, 1]);
  wait(AGREED_MS - 1);
  await pass(11n, 'a');
  expect(checks.isDivergent(undefined)).toBe(true);
  wait(1);
  await pass(12n, 'a');
  expect([checks.isDivergent(undefined), lines.length]).toEqual([false, 2]);
});

test('each node is judged by the parts that it showed', async () => {
  const { checks, found, seal } = checksOf();
  for (const pool of POOLS) {
    checks.note(shownBy('wrong', partOf(pool, 10n, 7n, 'a')));
    checks.note(shownBy('right', partOf(pool, 11n, 7n, 'a')));
  }
  for (const [number, state] of [
    [10n, 'b'],
    [11n, 'a'],
  ] as const)
    await seal(number, 7n, Object.fromEntries(POOLS.map((pool) => [pool, state])));
  expect(found.map(({ node, different }) => [node, different.length])).toEqual([
    ['wrong', POOLS.length],
    ['right', 0],
  ]);
  expect(['wrong', 'right', undefined].map((node) => checks.isDivergent(node))).toEqual([true, false, false]);
});

test('pools that anyone can make decide nothing', async () => {
  const { checks, outcomes, found, seal } = checksOf(({ address }) => address === A);
  for (const pool of POOLS) checks.note(partOf(pool, 10n, 7n, 'a'));
  await seal(10n, 7n, Object.fromEntries(POOLS.map((pool) => [pool, 'b'])));
  expect([outcomes.length, checks.isDivergent(undefined), found]).toEqual([
    POOLS.length,
    false,
    [expect.objectContaining({ same: [], different: [A] })],
  ]);
});

test('what another process compared counts', () => {
  const { checks } = checksOf();
  checks.take({ blockNumber: 10n, timestamp: timeOf(10n), same: [], different: POOLS });
  expect(checks.isDivergent(undefined)).toBe(true);
});
