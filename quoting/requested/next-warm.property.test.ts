import fc from 'fast-check';
import type { Address } from 'viem';
import { expect, test } from 'vitest';
import { stateOf } from '../../chain/pending-state.ts';
import { runs } from '../../test/harness/property-seed.ts';
import { SnapshotError } from '../snapshot-error.ts';
import type { WarmResult } from './warm-result.ts';
import type { WarmRead } from './warm-schedule.ts';
import { BRANCH, headAt, READS, startWarming } from './warm-world.fixture.ts';

type Warming = ReturnType<typeof startWarming>;

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

type Action = typeof action extends fc.Arbitrary<infer A> ? A : never;

/** Does one thing, 100 ms after the one before. */
function act({ world, take, endStep, settle }: Warming, each: Action): void {
  world.now += 100;
  if (each.do === 'head' || each.do === 'state') {
    const number = Number(world.head.block.number) + Number(each.do === 'head');
    world.head = headAt(number, each.do === 'state' ? `${world.now}` : undefined);
    take({ kind: 'head', head: world.head, branch: BRANCH });
  } else if (each.do === 'request') {
    world.requested = each.reads;
    take({ kind: 'requested' });
  } else if (each.do === 'tick') take({ kind: 'tick', isOutdated: each.isOutdated });
  else if (each.do === 'fail' && world.step) {
    world.step = null;
    take({ kind: 'failed' });
  } else if (each.do === 'settle') settle();
  else if (each.do === 'down') endStep({ isDown: true });
  else if (each.do === 'step') endStep(each);
}

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
  of({ kind, address }: Pick<WarmRead, 'kind' | 'address'>): string | undefined {
    return this.#kinds.get(kind)?.states.get(address);
  }
}

/** What was read and is requested since: none of it is read again. */
class Made {
  readonly #reads = new Set<string>();

  /** Of a result, which is of its own block and holds nothing that is not requested. */
  take(result: WarmResult, held: Held): void {
    const state = stateOf(result.block);
    for (const [address, outcome] of result.outcomes) {
      if (outcome instanceof SnapshotError) continue;
      expect(outcome.block.hash).toBe(result.block.hash);
      if (!outcome.isProvisional) this.#reads.add(`${stateOf(outcome.block)}${result.kind}${address}`);
    }
    for (const { kind, address } of READS) {
      if (kind !== result.kind || result.requested.has(address)) continue;
      expect(held.of({ kind, address })).toBe(undefined);
      this.#reads.delete(`${state}${kind}${address}`);
    }
  }

  expectNew(state: string, reads: readonly WarmRead[]): void {
    for (const { kind, address } of reads) expect(this.#reads).not.toContain(`${state}${kind}${address}`);
  }

  forget(): void {
    this.#reads.clear();
  }
}

/** Once all is well, what is requested is read at the newest head and held, and nothing else follows. */
function expectAllRead({ world, take, settle }: Warming, held: Held): void {
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
}

/** Once closed, nothing starts. */
function expectClosed({ world, take }: Warming): void {
  take({ kind: 'closed' });
  take({ kind: 'requested' });
  take({ kind: 'head', head: world.head, branch: BRANCH });
  expect([world.step, world.isWatching]).toEqual([null, false]);
}

test('property: one step at a time, no read twice while it is requested, results of their own block, then all is read', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 120 }), (actions) => {
      const warming = startWarming();
      const { world } = warming;
      const held = new Held();
      const made = new Made();
      warming.take({ kind: 'head', head: world.head, branch: BRANCH });
      for (const each of actions) {
        const { step } = world;
        const reported = world.results.length;
        if (each.do === 'step' && step?.kind === 'begin' && world.requested.length === 0) made.forget();
        act(warming, each);
        if (step?.kind === 'list' && world.step?.kind === 'read')
          made.expectNew(stateOf(world.step.head.block), world.step.pending);
        for (const result of world.results.slice(reported)) {
          held.take(result);
          if (result) made.take(result, held);
          else expect(world.isWatching).toBe(false);
        }
        // Without a head to read at, all reads begin again.
        if (world.state.progress.state === '') made.forget();
        expect(world.step === null).toBe(world.state.run === null);
        if (world.state.ticks === null) expect(world.isWatching).toBe(false);
      }
      expectAllRead(warming, held);
      expectClosed(warming);
    }),
    { numRuns: runs(200) },
  );
});
