import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readBuildMetrics } from './build-metrics.ts';
import { type BuildState, neededBy } from './needed-by.ts';
import { countBlocks, ProgressMeter } from './progress.ts';

test('blocks are counted from the first one of each chain to its head', () => {
  const position = {
    startBlocks: new Map([
      [1, 100],
      [56, 0],
      [137, 50],
    ]),
    indexed: new Map([
      [1, 150],
      [56, 40],
    ]),
    heads: new Map([
      [1, 300],
      [56, 30],
      [137, 40],
    ]),
  };
  // Chain 56 is indexed beyond the head that was seen; chain 137 has not reached its first block.
  expect(countBlocks(position)).toEqual({ total: 200 + 30 + 0, done: 50 + 30 + 0 });
});

test('rates are means of the last half minute', () => {
  const meter = new ProgressMeter(0);
  expect(meter.measure(0, { total: 1_000, done: 0 }, 0)).toMatchObject({ eventsPerSec: 0, secondsLeft: null });
  expect(meter.measure(10_000, { total: 1_000, done: 100 }, 5_000)).toMatchObject({
    eventsPerSec: 500,
    secondsLeft: 90,
  });
  // The first look is forgotten: 100 blocks and 1,000 events in the 30 s since the second.
  expect(meter.measure(40_000, { total: 1_000, done: 200 }, 6_000)).toMatchObject({
    eventsPerSec: 33,
    secondsLeft: 240,
  });
  expect(meter.measure(41_000, { total: 1_000, done: 1_000 }, 6_000).secondsLeft).toBe(0);
});

test('whatever the counters do, a rate is not negative and the time left is a whole number or unknown', () => {
  const look = fc.record({ step: fc.nat(60_000), done: fc.nat(1_000), more: fc.nat(1_000), events: fc.nat(10_000) });
  fc.assert(
    fc.property(fc.array(look, { minLength: 1 }), (looks) => {
      const meter = new ProgressMeter(0);
      let atMs = 0;
      for (const { step, done, more, events } of looks) {
        atMs += step;
        const progress = meter.measure(atMs, { total: done + more, done }, events);
        expect(progress.eventsPerSec).toBeGreaterThanOrEqual(0);
        expect(progress.secondsLeft === null || Number.isSafeInteger(progress.secondsLeft)).toBe(true);
        expect(progress).toMatchObject({ totalBlocks: done + more, doneBlocks: done, events });
      }
    }),
  );
});

test('a wait is reported after 3 seconds without a block or an event, and counts from the last one', () => {
  const meter = new ProgressMeter(0);
  const note = (done: number, events: number, atMs: number) => meter.measure(atMs, { total: 9, done }, events);
  meter.needs('logs', 0);
  note(1, 5, 1_000);
  note(1, 5, 3_999);
  expect(meter.wait(3_999)).toBeNull();
  expect(meter.wait(4_000)).toEqual({ for: 'logs', seconds: 3 });
  meter.needs('logs', 60_000);
  expect(meter.wait(61_999)).toEqual({ for: 'logs', seconds: 60 });
  note(1, 6, 62_000);
  expect(meter.wait(62_000)).toBeNull();
  expect(meter.wait(72_000)).toEqual({ for: 'logs', seconds: 10 });
  note(2, 6, 72_000);
  expect(meter.wait(72_000)).toBeNull();
});

test('another need is another wait', () => {
  const meter = new ProgressMeter(0);
  meter.needs('logs', 0);
  meter.needs('Postgres', 60_000);
  expect(meter.wait(62_999)).toBeNull();
  expect(meter.wait(63_000)).toEqual({ for: 'Postgres', seconds: 3 });
});

const chains = (of: Readonly<Record<number, number>>) => new Map(Object.entries(of).map(([id, n]) => [Number(id), n]));

const STATE: BuildState = {
  schema: 'onchain_2',
  isTaken: false,
  metrics: null,
  isFollowing: false,
  startBlocks: chains({ 1: 0, 56: 0 }),
  indexed: chains({ 1: 90, 56: 100 }),
  heads: chains({ 1: 100, 56: 100 }),
};
const METRICS = { events: 0, fetching: [], isWritten: false };

test.each<[string, Partial<BuildState>]>([
  ['the indexer to start', {}],
  ['another process to end that writes "onchain_2"', { isTaken: true }],
  ['the indexer to start', { metrics: { ...METRICS, fetching: null } }],
  ['logs of chain 56 from its nodes', { metrics: { ...METRICS, fetching: ['chain_56'] } }],
  ['logs of chain 1, 56 from its nodes', { metrics: { ...METRICS, fetching: ['chain_1', 'chain_56'] } }],
  ['the indexer to write what it fetched', { metrics: METRICS }],
  ['Postgres to build the indexes of the tables', { metrics: { ...METRICS, isWritten: true } }],
  ['the newest blocks of chain 1 from its nodes', { metrics: { ...METRICS, isWritten: true }, isFollowing: true }],
])('it needs %s', (needed, state) => {
  expect(neededBy({ ...STATE, ...state })).toBe(needed);
});

test('the metrics of the indexer say of which chains logs are missing, and when all events are written', () => {
  const begun = `# TYPE ponder_historical_total_blocks gauge
ponder_historical_total_blocks{chain="chain_1"} 100
ponder_historical_total_blocks{chain="chain_56"} 200
ponder_historical_cached_blocks{chain="chain_1"} 100
ponder_historical_cached_blocks{chain="chain_56"} 20
ponder_historical_completed_blocks{chain="chain_56"} 179
ponder_indexing_completed_events{chain="chain_1",event="Pool:Swap"} 7
ponder_indexing_completed_events{chain="chain_56",event="Pool:Swap"} 8
`;
  expect(readBuildMetrics('')).toEqual({ events: 0, fetching: null, isWritten: false });
  expect(readBuildMetrics(begun)).toEqual({ events: 15, fetching: ['chain_56'], isWritten: false });
  const done = `${begun.replace(' 179', ' 180')}ponder_historical_end_timestamp_seconds{chain="chain_1"} 1800000000\n`;
  expect(readBuildMetrics(done)).toEqual({ events: 15, fetching: [], isWritten: true });
});
