import { randomUUID } from 'node:crypto';
import { beforeAll, expect, inject, onTestFinished, test, vi } from 'vitest';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import { PART_MS, SILENT_MS } from '../../quoting/parts/part-schedule.ts';
import { startedWorld } from '../harness/open-world.ts';
import { fixedDirectory } from '../quotes/served-pool.ts';
import { type StreamApi, startStreamApi } from '../stream/stream-api.ts';
import { batchesOf } from './live-world.ts';
import { quotesAfter, quotesOf } from './part-quotes.ts';
import { startPartWorld } from './part-world.ts';

/** Parts of a block are read by one process for all, and by another one when that is gone. */

const PARTS_PER_BLOCK = 10;

const world = startedWorld(() =>
  startPartWorld({
    flatPools: 4,
    packedPools: 4,
    node: { form: 'payload', partsPerBlock: PARTS_PER_BLOCK },
  }),
);
beforeAll(() => world.api.stop());

const slowNow = () => performance.now() / 4;

/** How many parts were shown. */
function partsShown(): number {
  const { number, index } = world.node.part();
  return Number(number) * PARTS_PER_BLOCK + index;
}

/** A call that shows a part is given up before: on a busy machine nodes answer some later. */
const RETRY_MS = 2_000;

/**
 * The clock of all processes, slower than the real one: on a busy machine a part is not too old once it is read.
 * Once it counts parts no load delays them: what they do depends on counts alone, but where a call was given up.
 */
class PartClock {
  #from: { readonly ms: number; readonly parts: number } | undefined;
  #retries = 0;

  readonly now = (): number => (this.#from ? this.#from.ms + (partsShown() - this.#from.parts) * PART_MS : slowNow());

  /** From now on it goes on with the parts only. */
  countParts(): void {
    this.#from = { ms: slowNow(), parts: partsShown() };
  }

  wait(ms: number): void {
    this.#from = { ms: this.now() + ms, parts: partsShown() };
  }

  /** How often parts were polled since processes did not know one. */
  get retries(): number {
    return this.#retries;
  }

  /** Lets time pass while something is awaited, so that parts are polled. */
  async during<T>(awaited: Promise<T>): Promise<T> {
    const timer = setInterval(() => {
      if (!this.#from) return;
      this.#retries += 1;
      this.wait(SILENT_MS);
    }, RETRY_MS);
    return awaited.finally(() => clearInterval(timer));
  }
}

interface Processes {
  readonly apis: readonly StreamApi[];
  readonly clock: PartClock;
}

/** Processes that share what they read, after some parts, from when on their clock counts these. */
async function openApis(count: number, body: object = {}) {
  const sharedBy = { redisUrl: inject('redisUrl'), prefix: randomUUID() };
  const { config, served } = world;
  const clock = new PartClock();
  const chain = { chain: config, directory: fixedDirectory(served) };
  const open = async () => {
    let used = 0;
    const count = (_kind: string, outcome: string) => {
      if (outcome === 'used') used += 1;
    };
    const nothing = () => undefined;
    const observeLive = () => ({ count, skipped: nothing, suspended: nothing, sealed: nothing });
    /** `used`: how often a part was shown to it, by a node or another process. */
    return { ...(await startStreamApi({ ...chain, sharedBy, now: clock.now, observeLive })), used: () => used };
  };
  const apis = await Promise.all(Array.from({ length: count }, open));
  for (const api of apis) onTestFinished(() => api.stop());
  // Until it is known of each pool how its depth is found, and how its tokens move.
  await showParts({ apis, clock }, 5, body);
  clock.countParts();
  await showParts({ apis, clock }, 2, body);
  return { apis, clock };
}

const callsAtParts = () => world.node.requests.filter(({ params }) => params.includes('pending')).length;

/** A process that reads pools for the first time learns by so many more what holds for long, as how tokens move. */
const LEARNING_CALLS = 3;
/** Of 40 parts, how many are read twice on a busy machine: calls that end in the next part, or late. */
const READ_TWICE = 3;

/** Shows parts, each once all processes quote after the one before. All but the first of a block have new prices. */
async function showParts({ apis, clock }: Processes, count: number, body: object = {}): Promise<void> {
  for (let shown = 0; shown < count; shown += 1) {
    const isLast = world.node.part().index === PARTS_PER_BLOCK - 1;
    const part = isLast ? await world.node.nextPart() : await world.price(190n + BigInt(shown % 10));
    await clock.during(Promise.all(apis.map((api) => quotesAfter(world, part, batchesOf(api), body))));
  }
}

/** Fails unless parts cost so many calls at most while something happens. */
async function expectCalls({ apis, clock }: Processes, perPart: number, happen: () => Promise<void>): Promise<void> {
  const before = { calls: callsAtParts(), parts: partsShown(), retries: clock.retries };
  await happen();
  // Whichever process is the first to hear of a part reads pools for all.
  const learning = LEARNING_CALLS * (apis.length - 1);
  const reads = partsShown() - before.parts + READ_TWICE + apis.length * (clock.retries - before.retries);
  expect(callsAtParts() - before.calls).toBeLessThanOrEqual(perPart * reads + learning);
}

test.each([1, 4])(
  'with %i processes, a part costs three calls at most, also where pools have guards',
  async (count) => {
    const processes = await openApis(count);
    await expectCalls(processes, 3, () => showParts(processes, 40));
  },
);

/** A flat pool with guards that is not asked for, and the others. */
const left = () => world.market.pools.slice(1, 2);
const bodyOf = (pools: readonly LivePool[]) => ({ pools: pools.map(({ address }) => address) });
const allButLeft = () => bodyOf(world.market.pools.filter((pool) => !left().includes(pool)));

test.each([1, 4])('with %i processes, a part that changes no pool that is asked for costs one call', async (count) => {
  const processes = await openApis(count, allButLeft());
  const { apis, clock } = processes;
  for (let blocks = 0; blocks < 3; blocks += 1) {
    // In its first part prices are others, since time is.
    while (world.node.part().index !== 1) await showParts(processes, 1, allButLeft());
    await expectCalls(processes, 1, async () => {
      while (world.node.part().index < PARTS_PER_BLOCK - 1) {
        const part = await world.price(150n + BigInt(world.node.part().index), left());
        await clock.during(Promise.all(apis.map((api) => quotesAfter(world, part, batchesOf(api), allButLeft()))));
      }
    });
  }
});

test('a pool that one process alone is asked for has its quote, and soon costs no call more', async () => {
  const processes = await openApis(2, allButLeft());
  const { apis, clock } = processes;
  const other = world.open({ now: clock.now });
  for (const api of apis) {
    const part = await world.price(195n);
    const [quote] = await clock.during(quotesAfter(world, part, batchesOf(api), bodyOf(left())));
    const [right] = await clock.during(quotesAfter(world, part, other, bodyOf(left())));
    expect(quote?.depth).toEqual(right?.depth);
  }
  await other.stop();
  await expectCalls(processes, 3, () => showParts(processes, 20));
});

test.each([1, 3])('with %i processes, parts in which nothing happens soon cost no call', async (count) => {
  const { apis, clock } = await openApis(count);
  const quotesOfAll = () => Promise.all(apis.map((api) => quotesOf(world, {}, batchesOf(api))));
  /** Shows a part in which nothing happens. @returns the calls until all processes know it, and the polls of these */
  const callsOfNext = async () => {
    const before = callsAtParts();
    const { retries } = clock;
    const known = apis.map((api) => api.used());
    const { number } = await world.node.nextPart();
    const areAtPart = () => apis.every((api, index) => api.used() > (known[index] ?? 0));
    await clock.during(vi.waitUntil(areAtPart, { interval: 5 }));
    const basis = { kind: 'live', targetBlockNumber: Number(number) };
    for (const quote of (await quotesOfAll()).flat()) expect(quote).toMatchObject({ basis });
    return { calls: callsAtParts() - before, polls: apis.length * (clock.retries - retries) };
  };
  while (world.node.part().index > 2) await showParts({ apis, clock }, 1);
  const part = await world.price(195n);
  const right = await clock.during(quotesAfter(world, part, batchesOf(apis[0] as StreamApi)));
  // Until a node that is three parts behind has come to the change.
  for (let parts = 0; parts < 3; parts += 1) expect((await callsOfNext()).calls).toBeGreaterThan(0);
  while (world.node.part().index < PARTS_PER_BLOCK - 1) {
    const { calls, polls } = await callsOfNext();
    expect(calls).toBeLessThanOrEqual(polls);
  }
  for (const seen of await quotesOfAll())
    expect(seen.map(({ depth }) => depth)).toEqual(right.map(({ depth }) => depth));
});

test('when the process that reads is gone, others quote live all the time, and after the second part', async () => {
  const { apis, clock } = await openApis(3);
  for (const [index, api] of apis.slice(0, 2).entries()) {
    const others = apis.slice(index + 1);
    const expectLive = async () => {
      for (const other of others) {
        const kinds = (await quotesOf(world, {}, batchesOf(other))).map(({ basis }) => basis?.kind);
        expect(kinds).toEqual(world.market.pools.map(() => 'live'));
      }
    };
    // The next two parts are of this block.
    while (world.node.part().index > PARTS_PER_BLOCK - 4) await showParts({ apis: [api, ...others], clock }, 1);
    await api.stop();
    await world.price(190n);
    await expectLive();
    const part = await world.price(191n);
    await expectLive();
    await clock.during(Promise.all(others.map((other) => quotesAfter(world, part, batchesOf(other)))));
    await showParts({ apis: others, clock }, 2);
  }
});
