import fc from 'fast-check';
import type { Address } from 'viem';
import { expect, test, vi } from 'vitest';
import { toQuote } from '../../api/quotes/quote-body.ts';
import { BASES, type Basis } from '../../quoting/quote-basis.ts';
import { SnapshotError } from '../../quoting/snapshot-error.ts';
import { runs } from '../harness/property-seed.ts';
import { startLiveProcess } from './live-process.ts';
import { SimulatedChain } from './simulated-chain.ts';
import { SimulatedClient } from './simulated-client.ts';
import { stopTimers } from './simulated-time.ts';

/* Clients that move between processes and bases, of which each process has words of its own: it may miss any. */

const POOLS = 3;
const RICH = { callsPerMinute: 100_000 };
const PROCESSES = [0, 1] as const;

stopTimers();

/** Two processes, each with a client that keeps its pools read on both bases. */
async function startWorld() {
  const chain = new SimulatedChain(POOLS);
  const processes = PROCESSES.map(() => startLiveProcess(chain, RICH));
  /** Lets time pass, in which frames and reads reach clients. */
  const wait = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      chain.now += 50;
      if (passed % 200 === 0) for (const { renew } of processes) renew();
      await vi.advanceTimersByTimeAsync(50);
      for (let turn = 0; turn < 12; turn += 1) await new Promise(setImmediate);
    }
  };
  const push = () => {
    for (const { committed } of processes) committed.heads.push(chain.head);
  };
  const mine = (changed: readonly number[]) => {
    chain.mine(changed);
    push();
  };
  const streamOf = (process: number, basis: Basis) => (processes[process] as (typeof processes)[number])[basis].stream;
  for (const { committed, live } of processes) {
    for (const { stream } of [committed, live]) {
      for (const depth of [true, false]) {
        await new SimulatedClient({ pools: 'all', depth, hasKey: true }, chain.pools).connect(stream);
      }
    }
  }
  // No quote is new at the second block.
  for (const _ of [1, 2]) {
    mine([]);
    await wait(700);
  }
  return { chain, processes, wait, mine, push, streamOf };
}

type World = Awaited<ReturnType<typeof startWorld>>;

/** What a client may trade on. */
const shown = ({ poolAddress, bidAdj, basis }: ReturnType<typeof toQuote>) =>
  `${poolAddress} ${bidAdj} ${basis?.kind} ${basis?.targetBlockNumber}`;

/** What a process answers over REST. */
async function asked({ chain, processes }: World, process: number, basis: Basis): Promise<readonly string[]> {
  const found = await processes[process]?.[basis].snapshots.prices(chain.pools);
  return [...(found?.values() ?? [])].map((each) =>
    each instanceof SnapshotError ? each.message : shown(toQuote(each)),
  );
}

/** What a client holds that says of which block it is. */
const held = ({ book }: SimulatedClient): readonly string[] =>
  [...book.quotes.values()].map(({ quote }) => shown(quote as ReturnType<typeof toQuote>));

const expectSame = async (world: World, client: SimulatedClient, process: number, basis: Basis) => {
  expect(client.fault).toBeUndefined();
  expect(client.hash).toBe(world.chain.head.block.hash);
  expect([...held(client)].sort()).toEqual([...(await asked(world, process, basis))].sort());
};

const clientOf = ({ chain }: World, depth = false) =>
  new SimulatedClient({ pools: chain.pools, depth, hasKey: true }, chain.pools);

test.each([true, false])('a live price that the next process never saw does not stay (depth %s)', async (depth) => {
  const world = await startWorld();
  const { chain, processes, wait, streamOf } = world;
  const [pool] = chain.pools.map(({ address }) => address) as [Address];
  const client = clientOf(world, depth);
  await client.connect(streamOf(0, 'live'));
  processes[0]?.frame(new Map([[pool, 7n]]));
  await wait(700);
  expect(held(client)).toContain(`${pool} 7 live ${chain.head.block.number + 1n}`);
  client.cut();
  await client.connect(streamOf(1, 'live'));
  await wait(700);
  await expectSame(world, client, 1, 'live');
  expect(client.book.events).not.toContain('gap');
});

test.each(BASES)('what was sent on another basis is sent again (%s)', async (from) => {
  const world = await startWorld();
  const { chain, processes, wait, streamOf } = world;
  const to = from === 'live' ? 'committed' : 'live';
  processes[0]?.frame(new Map([[chain.pools[1]?.address as Address, 7n]]));
  await wait(700);
  const client = clientOf(world);
  await client.connect(streamOf(0, from));
  await wait(100);
  client.cut();
  await client.connect(streamOf(0, to));
  await wait(700);
  await expectSame(world, client, 0, to);
});

test('between two live changes of one block, the process that sent the last one sends no quote again', async () => {
  const world = await startWorld();
  const { chain, processes, wait, streamOf } = world;
  const client = clientOf(world);
  await client.connect(streamOf(0, 'live'));
  processes[0]?.frame(new Map([[chain.pools[0]?.address as Address, 7n]]));
  await wait(700);
  client.cut();
  const before = client.book.events.length;
  await client.connect(streamOf(0, 'live'));
  expect(client.book.events.slice(before)).toEqual(['heartbeat']);
});

const process = fc.constantFrom(...PROCESSES);
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ do: fc.constant('mine' as const), changed: fc.subarray([0, 1, 2]) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('frame' as const),
      processes: fc.subarray([...PROCESSES], { minLength: 1 }),
      prices: fc.array(fc.option(fc.bigInt(3n, 5n), { nil: undefined }), { minLength: POOLS, maxLength: POOLS }),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('move' as const),
      client: fc.nat({ max: 2 }),
      process,
      basis: fc.constantFrom('live' as const, 'live' as const, 'committed' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('cancel' as const), process }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('slow' as const), process, isSlow: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reorg' as const), depth: fc.integer({ min: 1, max: 2 }) }) },
);
const steps = fc.array(fc.tuple(step, fc.constantFrom(0, 50, 150, 400, 700)), { minLength: 5, maxLength: 30 });

test('property: over bases, processes and cancels a client that moves holds what REST of its process says', async () => {
  let [moves, live] = [0, 0];
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      const world = await startWorld();
      const { chain, processes, wait, mine, push, streamOf } = world;
      const clients = [false, true, false].map((depth) => ({
        client: clientOf(world, depth),
        process: 0,
        basis: 'live' as Basis,
      }));
      for (const each of clients) await each.client.connect(streamOf(each.process, each.basis));
      const settled = async () => {
        await wait(700);
        for (const each of clients) {
          await expectSame(world, each.client, each.process, each.basis);
          live += held(each.client).filter((text) => text.includes(' live ')).length;
        }
      };
      for (const [action, ms] of list) {
        if (action.do === 'mine') mine(action.changed);
        if (action.do === 'reorg') {
          chain.reorganise(action.depth, action.depth, [0, 1]);
          push();
        }
        if (action.do === 'slow') Object.assign(processes[action.process]?.node ?? {}, { isSlow: action.isSlow });
        if (action.do === 'cancel') processes[action.process]?.frame(new Map());
        if (action.do === 'frame') {
          const prices = chain.pools.flatMap(({ address }, index) => {
            const price = action.prices[index];
            return price === undefined ? [] : [[address, price] as const];
          });
          for (const index of action.processes) processes[index]?.frame(new Map(prices));
        }
        if (action.do === 'move') {
          const each = clients[action.client] as (typeof clients)[number];
          each.client.cut();
          Object.assign(each, { process: action.process, basis: action.basis });
          await each.client.connect(streamOf(each.process, each.basis));
          moves += 1;
        }
        if (ms < 700) await wait(ms);
        else await settled();
      }
      await settled();
      for (const each of processes) await each.stop();
    }),
    { numRuns: runs(60) },
  );
  expect(moves).toBeGreaterThan(50);
  expect(live).toBeGreaterThan(50);
}, 240_000);
