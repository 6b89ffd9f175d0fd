import fc from 'fast-check';
import { type Address, toHex } from 'viem';
import { expect, test } from 'vitest';
import type { ReportedHead } from '../../chain/chain-rpc.ts';
import { stateOf } from '../../chain/pending-state.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { ChainTail } from '../heads/chain-tail.ts';
import type { ServedPool } from '../pools/pool-directory.ts';
import { SnapshotError } from '../snapshot-error.ts';
import type { Snapshot } from '../types.ts';
import { nextWarm } from './next-warm.ts';
import type { WarmResult } from './warm-result.ts';
import type { WarmRead } from './warm-schedule.ts';
import { ASLEEP, type WarmEvent, type WarmStep } from './warm-state.ts';

const KEEP_MS = 2_000;
const BRANCH = ChainTail.EMPTY;

/** @param digest of what is pending on the block; undefined: nothing is */
const headAt = (number: number, digest?: string): ReportedHead => {
  const [hash, parent] = [number, number - 1].map((each) => toHex(each, { size: 32 }));
  const pending = digest === undefined ? {} : { pending: { digest } };
  const block = { number: BigInt(number), hash, parents: [parent], timestamp: BigInt(number), ...pending };
  return { block: block as ReportedHead['block'], endpoint: null as never };
};
const READS = (['prices', 'depths'] as const).flatMap((kind) =>
  [1, 2, 3].map((index): WarmRead => {
    const address = toHex(index, { size: 20 });
    return { address, kind, byKey: true, pool: { address } as ServedPool };
  }),
);
const FAILURE = new SnapshotError('timed_out', 'no node gives the head');

interface End {
  readonly failing?: readonly number[];
  readonly provisional?: readonly number[];
  readonly isDown?: boolean;
}

/** A chain whose steps end when the test says so. */
function start() {
  const world = {
    now: 0,
    state: ASLEEP,
    step: null as WarmStep | null,
    head: headAt(1),
    requested: [] as readonly WarmRead[],
    isWatching: false,
    results: [] as (WarmResult | null)[],
  };
  const take = (event: WarmEvent) => {
    const [state, effects] = nextWarm(world.state, event, world.now, KEEP_MS);
    world.state = state;
    if (effects.watch !== null) world.isWatching = effects.watch;
    world.results.push(...effects.results);
    if (!effects.step) return;
    expect(world.step).toBe(null);
    world.step = effects.step;
  };
  /** Ends the step in progress. By their indexes: reads that give no snapshot, or a provisional one. */
  const endStep = ({ failing = [], provisional = [], isDown = false }: End = {}) => {
    const { step } = world;
    world.step = null;
    if (step?.kind === 'begin') take({ kind: 'begun', isRequested: world.requested.length > 0 });
    if (step?.kind === 'locate') take({ kind: 'located', newest: isDown ? FAILURE : world.head });
    if (step?.kind === 'list') take({ kind: 'listed', reads: world.requested, isShared: false });
    if (step?.kind === 'end') take({ kind: 'ended', ahead: step.reads });
    if (step?.kind !== 'read') return;
    const isProvisional = (pool: Address, of: string) =>
      provisional.some((index) => READS[index]?.address === pool && READS[index]?.kind === of);
    for (const of of ['prices', 'depths'] as const) {
      const made = step.pending.filter((read) => read.kind === of && !failing.includes(READS.indexOf(read)));
      const outcomes = made.map(({ address }): [Address, Snapshot] => [
        address,
        { block: step.head.block, ...(isProvisional(address, of) && { isProvisional: true }) } as unknown as Snapshot,
      ]);
      take({ kind: 'outcomes', of, outcomes: new Map(outcomes) });
    }
    take({ kind: 'read' });
  };
  const settle = () => {
    while (world.step) endStep();
  };
  return { world, take, endStep, settle };
}

const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('step' as const),
      failing: fc.subarray([0, 1, 2, 3, 4, 5]),
      provisional: fc.subarray([0, 1, 2, 3, 4, 5]),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('head' as const, 'state' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('request' as const), reads: fc.subarray(READS) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('tick' as const), isOutdated: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom('down' as const, 'fail' as const, 'settle' as const) }) },
);

/** What is held of results: those of one block and kind, as far as they are requested still. */
class Held {
  readonly #kinds = new Map<string, { readonly hash: string; readonly states: ReadonlyMap<Address, string> }>();

  take(result: WarmResult | null): void {
    if (!result) {
      this.#kinds.clear();
      return;
    }
    const { kind, block, requested, outcomes } = result;
    const before = this.#kinds.get(kind);
    const kept = before?.hash === block.hash ? [...before.states].filter(([address]) => requested.has(address)) : [];
    const read = [...outcomes].map(([address, outcome]): [Address, string] => {
      return [address, outcome instanceof SnapshotError ? outcome.code : stateOf(outcome.block)];
    });
    this.#kinds.set(kind, { hash: block.hash, states: new Map([...kept, ...read]) });
  }

  /** The state that a read is of, or why there is none. */
  of({ kind, address }: WarmRead): string | undefined {
    return this.#kinds.get(kind)?.states.get(address);
  }
}

test('property: one step at a time, no read twice while it is requested, results of their own block, then all is read', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 120 }), (actions) => {
      const { world, take, endStep, settle } = start();
      const held = new Held();
      let number = 1;
      const made = new Set<string>();
      take({ kind: 'head', head: world.head, branch: BRANCH });
      for (const each of actions) {
        world.now += 100;
        const { step, results } = world;
        const reported = results.length;
        if (each.do === 'head' || each.do === 'state') {
          if (each.do === 'head') number += 1;
          world.head = headAt(number, each.do === 'state' ? `${world.now}` : undefined);
          take({ kind: 'head', head: world.head, branch: BRANCH });
        } else if (each.do === 'request') {
          world.requested = each.reads;
          take({ kind: 'requested' });
        } else if (each.do === 'tick') take({ kind: 'tick', isOutdated: each.isOutdated });
        else if (each.do === 'fail' && step) {
          world.step = null;
          take({ kind: 'failed' });
        } else if (each.do === 'settle') settle();
        else if (each.do === 'down') endStep({ isDown: true });
        else if (each.do === 'step') {
          if (step?.kind === 'begin' && world.requested.length === 0) made.clear();
          endStep(each);
        }
        if (step?.kind === 'list' && world.step?.kind === 'read') {
          const state = stateOf(world.step.head.block);
          for (const { kind, address } of world.step.pending) expect(made).not.toContain(`${state}${kind}${address}`);
        }
        for (const result of results.slice(reported)) {
          if (result === null) expect(world.isWatching).toBe(false);
          for (const [address, outcome] of result?.outcomes ?? []) {
            if (outcome instanceof SnapshotError) continue;
            expect(outcome.block.hash).toBe(result?.block.hash);
            if (!outcome.isProvisional) made.add(`${stateOf(outcome.block)}${result?.kind}${address}`);
          }
          held.take(result);
          for (const read of READS) {
            if (read.kind !== result?.kind || result.requested.has(read.address)) continue;
            expect(held.of(read)).toBe(undefined);
            made.delete(`${stateOf(result.block)}${read.kind}${read.address}`);
          }
        }
        // Without a head to read at, all reads begin again.
        if (world.state.progress.state === '') made.clear();
        expect(world.step === null).toBe(world.state.run === null);
        if (world.state.ticks === null) expect(world.isWatching).toBe(false);
      }
      // Once all is well, what is requested is read at the newest head and held, and nothing else follows.
      const reported = world.results.length;
      settle();
      take({ kind: 'requested' });
      settle();
      const { requested, state, results } = world;
      for (const result of results.slice(reported)) held.take(result);
      for (const read of requested) expect(held.of(read)).toBe(stateOf(world.head.block));
      expect([world.isWatching, state.hasUndone]).toEqual([requested.length > 0, false]);
      expect(state.coverage).toEqual({ requested: new Set(requested.map(({ address }) => address)).size, unread: 0 });
      if (requested.length > 0) expect(state.progress.state).toBe(stateOf(world.head.block));
      // Once closed, nothing starts.
      take({ kind: 'closed' });
      take({ kind: 'requested' });
      take({ kind: 'head', head: world.head, branch: BRANCH });
      expect([world.step, world.isWatching]).toEqual([null, false]);
    }),
    { numRuns: runs(200) },
  );
});

test('of heads that come during a run the next one reads the newest alone', () => {
  const { world, take, endStep, settle } = start();
  take({ kind: 'head', head: world.head, branch: BRANCH });
  expect(world.step).toBe(null);
  world.requested = READS.slice(0, 1);
  take({ kind: 'requested' });
  for (let steps = 0; steps < 3; steps++) endStep();
  expect(world.step).toMatchObject({ kind: 'read', head: { block: { number: 1n } } });
  for (const number of [2, 3]) {
    world.head = headAt(number);
    take({ kind: 'head', head: world.head, branch: BRANCH });
  }
  settle();
  const blocks = world.results.map((result) => result?.block.number);
  expect(blocks).toEqual([1n, 1n, 3n, 3n]);
});

test('a read that gave nothing is reported unless its last one is young, and tried again at each tick', () => {
  const { world, take, endStep, settle } = start();
  world.requested = READS.slice(0, 1);
  take({ kind: 'head', head: world.head, branch: BRANCH });
  take({ kind: 'requested' });
  settle();
  const readAt = world.now;
  world.head = headAt(2);
  take({ kind: 'head', head: world.head, branch: BRANCH });
  for (const [now, unread] of [
    [readAt + KEEP_MS - 1, 0],
    [readAt + KEEP_MS, 1],
  ] as const) {
    world.now = now;
    world.results = [];
    while (world.step) endStep({ failing: [0] });
    const [result] = world.results;
    expect([result?.outcomes.size, world.state.coverage]).toEqual([unread, { requested: 1, unread }]);
    take({ kind: 'tick', isOutdated: false });
    expect(world.step).toEqual({ kind: 'begin' });
  }
});

test('a provisional snapshot is reported, counts as read, and its pool is tried again at each tick', () => {
  const { world, take, endStep, settle } = start();
  world.requested = READS.slice(0, 2);
  take({ kind: 'head', head: world.head, branch: BRANCH });
  take({ kind: 'requested' });
  for (const [provisional, isTried] of [
    [[0], true],
    [[0], true],
    [[], false],
  ] as const) {
    world.now += 2 * KEEP_MS;
    world.results = [];
    while (world.step) endStep({ provisional });
    expect([...(world.results[0]?.outcomes.keys() ?? [])]).toContain(READS[0]?.address);
    expect(world.state.coverage).toEqual({ requested: 2, unread: 0 });
    take({ kind: 'tick', isOutdated: false });
    expect(world.step).toEqual(isTried ? { kind: 'begin' } : null);
  }
  settle();
});

test('without a head all reads fail, at once when it is lost and every five seconds', () => {
  const { world, take, endStep, settle } = start();
  world.requested = READS;
  take({ kind: 'head', head: world.head, branch: BRANCH });
  take({ kind: 'requested' });
  settle();
  world.results = [];
  take({ kind: 'tick', isOutdated: true });
  while (world.step) endStep({ isDown: true });
  expect(world.results.map((result) => [...(result?.outcomes.values() ?? [])])).toEqual([
    [FAILURE, FAILURE, FAILURE],
    [FAILURE, FAILURE, FAILURE],
  ]);
  // The last run left all reads undone: without `keepMs` only time makes the next one.
  const begins = Array.from({ length: 20 }, () => {
    const [state, { step }] = nextWarm(world.state, { kind: 'tick', isOutdated: true }, world.now, 0);
    world.state = { ...state, run: null, isDue: false };
    return step !== null;
  });
  expect(begins.flatMap((isBegun, index) => (isBegun ? [index] : []))).toEqual([8, 18]);
});
