import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { announcedHead, type HeadState, noHeads } from './head-state.ts';
import { type HeadEvent, nextHeads } from './next-heads.ts';
import { blockOf, forks, type Head, head } from './test-chain.fixture.ts';

/* Processes that share the heads that they take; their nodes come to a block at different times. */

const PACE = { blockTimeMs: 1_000, minRefreshMs: 500 };

interface Process {
  state: HeadState<Head>;
  /** How far its nodes are behind. */
  lagMs: number;
}

function startProcesses(count: number) {
  const world = { now: 0 };
  const minedAt = [Number.NEGATIVE_INFINITY];
  const processes = Array.from({ length: count }, (): Process => ({ state: noHeads(), lagMs: 0 }));
  const headOf = ({ lagMs }: Process) => head(minedAt.filter((at) => at <= world.now - lagMs).length);
  const happen = (process: Process, event: HeadEvent<Head>): void => {
    const [state, { taken, poll, lookUp }] = nextHeads(process.state, event, world.now, PACE);
    process.state = state;
    for (const { head: shared } of taken) {
      for (const other of processes) if (other !== process) happen(other, { kind: 'shared', head: shared, wallMs: 0 });
    }
    if (poll) happen(process, { kind: 'polled', heads: [headOf(process)] });
    if (lookUp) happen(process, { kind: 'header', header: blockOf(lookUp.hash, lookUp.number) });
  };
  const ask = (process: Process): number => {
    happen(process, { kind: 'asked', waits: true, wallMs: 0 });
    return Number(announcedHead(process.state, world.now)?.block.number);
  };
  const push = (process: Process) => happen(process, { kind: 'pushed', head: headOf(process), wallMs: 0 });
  return Object.assign(world, { processes, happen, ask, push, mine: () => minedAt.push(world.now) });
}

const step = fc.record({
  waitMs: fc.integer({ min: 0, max: 800 }),
  mined: fc.integer({ min: 0, max: 2 }),
  process: fc.nat({ max: 2 }),
  lagMs: fc.constantFrom(0, 0, 300, 1_000, 2_000),
  does: fc.constantFrom('ask', 'ask', 'push', 'nothing'),
});

test('property: who asks one process after the other gets no lower head than before', () => {
  let steps = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (all) => {
      const world = startProcesses(3);
      let highest = 1;
      for (const { waitMs, mined, process, lagMs, does } of all) {
        world.now += waitMs;
        for (let block = 0; block < mined; block += 1) world.mine();
        const own = world.processes[process] as Process;
        own.lagMs = lagMs;
        if (does === 'push') world.push(own);
        if (does !== 'ask') continue;
        const number = world.ask(own);
        expect(number).toBeGreaterThanOrEqual(highest);
        if (number > highest) steps += 1;
        highest = number;
      }
    }),
    { numRuns: runs(200) },
  );
  expect(steps).toBeGreaterThan(100);
});

test('a head that another process took is taken at once, with the own one that waits if that is higher', () => {
  const world = startProcesses(2);
  const [own] = world.processes as [Process, Process];
  const share = (number: number) => world.happen(own, { kind: 'shared', head: head(number), wallMs: 0 });
  for (let block = 0; block < 3; block += 1) world.mine();
  world.push(own);
  world.now += 100;
  world.mine();
  world.push(own);
  expect(own.state.current?.block.number).toBe(4n);
  share(5);
  expect(own.state.current?.block.number).toBe(5n);
  for (const number of [6, 7]) {
    world.mine();
    world.push(own);
    if (number === 6) expect(own.state.current?.block.number).toBe(5n);
  }
  share(6);
  expect(own.state.current?.block.number).toBe(7n);
  // Nobody mines a thousand blocks in no time.
  share(1_000);
  expect(own.state.current?.block.number).toBe(7n);
});

test('a head that the nodes do not come to is left for that of the nodes, and others are not heard for a while', () => {
  const world = startProcesses(1);
  const [own] = world.processes as [Process];
  expect(world.ask(own)).toBe(1);
  const share = (number: number) => world.happen(own, { kind: 'shared', head: head(number), wallMs: 0 });
  share(4);
  world.happen(own, { kind: 'rejected', block: head(4).block });
  expect(own.state.current?.block.number).toBe(1n);
  world.now += 9_999;
  share(5);
  expect(world.ask(own)).toBe(1);
  world.now += 1;
  share(6);
  expect(world.ask(own)).toBe(6);
});

test('a head that the nodes refuse is left for the branch that they are on', () => {
  forks.b = 3;
  onTestFinished(() => void delete forks.b);
  const world = startProcesses(1);
  const [own] = world.processes as [Process];
  for (const { fork, kind, number } of [
    { fork: 'a', kind: 'pushed', number: 3 },
    { fork: 'b', kind: 'pushed', number: 3 },
    { fork: 'b', kind: 'shared', number: 4 },
  ] as const) {
    world.now += 1_000;
    world.happen(own, { kind, head: head(number, fork), wallMs: 0 });
    expect(own.state.current).toMatchObject(head(number, fork));
  }
  world.happen(own, { kind: 'rejected', block: head(4, 'b').block });
  expect(own.state.current).toMatchObject(head(3, 'b'));
});
