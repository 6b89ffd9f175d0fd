import { expect, test } from 'vitest';
import { readBuildMetrics } from './build-metrics.ts';
import { type BuildState, neededBy } from './needed-by.ts';
import { countBlocks, Standstill } from './progress.ts';

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
  expect(countBlocks(position)).toEqual({ totalBlocks: 200 + 30 + 0, doneBlocks: 50 + 30 + 0 });
});

test('a wait is reported after 3 seconds without a block or an event, and counts from the last one', () => {
  const standstill = new Standstill(0);
  const note = (done: number, events: number, atMs: number) =>
    standstill.note({ totalBlocks: 9, doneBlocks: done, events }, atMs);
  standstill.needs('logs', 0);
  note(1, 5, 1_000);
  note(1, 5, 3_999);
  expect(standstill.wait(3_999)).toBeNull();
  expect(standstill.wait(4_000)).toEqual({ for: 'logs', seconds: 3 });
  standstill.needs('logs', 60_000);
  expect(standstill.wait(61_999)).toEqual({ for: 'logs', seconds: 60 });
  note(1, 6, 62_000);
  expect(standstill.wait(62_000)).toBeNull();
  expect(standstill.wait(72_000)).toEqual({ for: 'logs', seconds: 10 });
  note(2, 6, 72_000);
  expect(standstill.wait(72_000)).toBeNull();
});

test('another need is another wait', () => {
  const standstill = new Standstill(0);
  standstill.needs('logs', 0);
  standstill.needs('Postgres', 60_000);
  expect(standstill.wait(62_999)).toBeNull();
  expect(standstill.wait(63_000)).toEqual({ for: 'Postgres', seconds: 3 });
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
