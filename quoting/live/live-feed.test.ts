import type { Address, Hex } from 'viem';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { LiveConfig } from '../../config/live-schema.ts';
import type { Frame } from './frame.ts';
import { builderText, relayerPush, relayerResult } from './frames.fixture.ts';
import { LiveFeed } from './live-feed.ts';
import { recordingLogger, startLiveServer } from './live-server.fixture.ts';

type Sources = readonly Partial<Exclude<LiveConfig['sources'][number], { kind: 'preconfirmed' }>>[];

function feedOf(sources: Sources, env: Record<string, string> = {}) {
  const full = sources.map((source) => ({ kind: 'builder-overrides' as const, wsUrls: [], rpcUrls: [], ...source }));
  const counts: Record<string, number> = {};
  const chain = { head: 9n as bigint | undefined };
  const clock = { ms: 0 };
  const { logger, lines } = recordingLogger();
  const feed = new LiveFeed(
    { chainId: 1, blockTimeMs: 12_000, live: { sources: full } },
    {
      top: () => chain.head,
      observer: {
        count: (kind, outcome) => {
          const name = `${kind} ${outcome}`;
          counts[name] = (counts[name] ?? 0) + 1;
        },
        skipped: (kind, entry, count) => {
          counts[`${kind} skipped ${entry}`] = count;
        },
        suspended: () => undefined,
        sealed: () => undefined,
      },
      env,
      logger,
      now: () => clock.ms,
      wallClock: () => Date.now(),
    },
  );
  feed.read();
  onTestFinished(() => feed.close());
  const heard: string[] = [];
  feed.onFrame(() => {
    const overrides = feed.state();
    const text = `${overrides?.blockNumber} ${wordIn(overrides)}`;
    if (text !== heard.at(-1)) heard.push(text);
  });
  return { feed, counts, chain, clock, lines, heard };
}

const venue: Address = `0x${'e7'.repeat(20)}`;
const slot: Hex = `0x${'0'.repeat(63)}1`;
const venuesOf = (word: number): Frame['venues'] =>
  new Map([[venue, new Map([[venue, new Map([[slot, `0x${word.toString(16).padStart(64, '0')}` as Hex]])]])]]);
const builder = (number: number, word: number) => builderText(BigInt(number), venuesOf(word));
const wordIn = (overrides: ReturnType<LiveFeed['state']>) => Number(overrides?.overrides.get(venue)?.get(slot));

test('of two URLs and two sources the block after the head counts, then the newest frame', async () => {
  const [east, west, relayer] = [await startLiveServer(), await startLiveServer(), await startLiveServer()];
  const { feed, heard, chain, counts } = feedOf([
    { wsUrls: [east.wsUrl, west.wsUrl] },
    { kind: 'relayer', wsUrls: [relayer.wsUrl] },
  ]);
  await vi.waitUntil(() => [east, west, relayer].every((server) => server.openSockets() === 1));
  const pushed = async (push: () => void) => {
    const before = Object.values(counts).reduce((sum, count) => sum + count, 0);
    push();
    await vi.waitUntil(() => Object.values(counts).reduce((sum, count) => sum + count, 0) > before);
  };
  await pushed(() => east.push(builder(10, 1)));
  await pushed(() => west.push(builder(10, 2)));
  await pushed(() => west.push(builder(11, 3)));
  await pushed(() => east.push(builder(10, 4)));
  chain.head = 10n;
  await pushed(() => east.push(builder(10, 8)));
  await pushed(() => relayer.push(relayerPush(relayerResult(11n, venuesOf(5)))));
  await pushed(() => relayer.push(relayerPush(relayerResult(11n, new Map()))));
  await pushed(() => west.push(builder(11, 3)));
  await pushed(() => east.push(builder(13, 6)));
  await pushed(() => east.push(builder(11, 7)));
  expect(heard).toEqual(['10 1', '10 2', '10 4', '11 5', '11 3', '11 7']);
  expect([wordIn(feed.state()), counts]).toEqual([
    7,
    { 'builder-overrides used': 6, 'builder-overrides late': 1, 'builder-overrides ahead': 1, 'relayer used': 2 },
  ]);
});

test('a malformed venue costs its own overrides alone, and is counted', async () => {
  const server = await startLiveServer();
  const { feed, heard, counts } = feedOf([{ wsUrls: [server.wsUrl] }]);
  await vi.waitUntil(() => server.openSockets() === 1);
  server.push(builder(10, 1));
  await vi.waitUntil(() => heard.length === 1);
  const spoilt = { [`0x${'28'.repeat(20)}`]: null, [`0x${'29'.repeat(20)}`]: { stateOverride: null } };
  server.push(JSON.stringify({ ...JSON.parse(builder(10, 2)), ...spoilt }));
  await vi.waitUntil(() => heard.length === 2);
  expect(wordIn(feed.state())).toBe(2);
  expect(counts).toEqual({ 'builder-overrides used': 2, 'builder-overrides skipped venue': 2 });
});

test('overrides end with their age, come again with the next frame, and follow the head', async () => {
  const server = await startLiveServer();
  const { feed, heard, clock, chain, counts } = feedOf([{ wsUrls: [server.wsUrl] }]);
  await vi.waitUntil(() => server.openSockets() === 1);
  server.push(builder(10, 1));
  await vi.waitUntil(() => heard.length === 1);
  clock.ms = 8_000;
  expect(feed.state()).toMatchObject({ blockNumber: 10n, receivedAt: 0 });
  clock.ms = 8_001;
  expect(feed.state()).toBeUndefined();
  server.push(builder(10, 1));
  await vi.waitUntil(() => feed.state()?.receivedAt === 8_001);
  chain.head = 10n;
  server.push(builder(10, 2));
  server.push(builder(11, 3));
  await vi.waitUntil(() => heard.length === 2);
  expect([heard, counts['builder-overrides late']]).toEqual([['10 1', '11 3'], 1]);
});

test('a listener that is removed and a feed that is closed are not called', async () => {
  const server = await startLiveServer();
  const { feed, heard } = feedOf([{ wsUrls: [server.wsUrl] }]);
  const removed: unknown[] = [];
  feed.onFrame(() => removed.push(feed.state()))();
  await vi.waitUntil(() => server.openSockets() === 1);
  server.push(builder(10, 1));
  await vi.waitUntil(() => heard.length === 1);
  feed.close();
  server.push(builder(10, 2));
  await vi.waitUntil(() => server.openSockets() === 0);
  expect([heard, removed]).toEqual([['10 1'], []]);
});

test('a source whose key is not set is off, with a warning that names the variable', async () => {
  const server = await startLiveServer();
  const keyed = { apiKeyEnv: 'LIVE_KEY', wsUrls: [server.wsUrl] };
  const off = feedOf([keyed]);
  expect(off.feed.isOff).toBe(true);
  expect(off.lines.map((line) => JSON.parse(line))).toMatchObject([
    { kind: 'builder-overrides', apiKeyEnv: 'LIVE_KEY', msg: 'live source is off: its key is not set' },
  ]);
  const { feed } = feedOf([keyed, { wsUrls: [server.wsUrl] }], {});
  await vi.waitUntil(() => server.openSockets() === 1);
  feed.close();
  feedOf([keyed], { LIVE_KEY: 'key' });
  await vi.waitUntil(() => server.connections.length === 2);
});

test('a feed that rests has the overrides that another process read, and reads on from there when asked to', async () => {
  const server = await startLiveServer();
  const [reader, { feed, heard }] = [
    feedOf([{ wsUrls: [server.wsUrl] }]),
    feedOf([{ wsUrls: [server.wsUrl], name: 'east' }]),
  ];
  feed.rest();
  await vi.waitUntil(() => server.openSockets() === 1);
  server.push(builder(10, 1));
  await vi.waitUntil(() => reader.heard.length === 1);
  expect([feed.shared(), feed.state()]).toEqual([undefined, undefined]);
  feed.take(sharedBy(reader));
  expect([feed.shared(), feed.state(), heard]).toEqual([undefined, reader.feed.state(), ['10 1']]);
  // It is named here alone.
  expect([namesIn(reader), namesIn({ feed })]).toEqual([['builder-overrides'], ['east']]);
  reader.feed.close();
  await vi.waitUntil(() => server.openSockets() === 0);
  feed.read();
  expect([sharedBy({ feed }), wordIn(feed.state())]).toEqual([
    [expect.objectContaining({ blockNumber: 10n, sources: [expect.anything()] })],
    1,
  ]);
  await vi.waitUntil(() => server.openSockets() === 1);
  server.push(builderText(10n, new Map([[venue, new Map()]])));
  await vi.waitUntil(() => feed.state() === undefined);
  const [{ sources: [{ parts = [] } = {}] = [] } = {}] = sharedBy({ feed });
  expect(parts).toEqual([expect.objectContaining({ venue, overrides: new Map() })]);
  feed.close();
  feed.read();
  await vi.waitUntil(() => server.openSockets() === 0);
});

test('a source that the next reader has not configured holds until its overrides are too old', () => {
  const { feed, clock } = feedOf([]);
  feed.rest();
  const word = venuesOf(2).get(venue)?.get(venue)?.get(slot) as Hex;
  const overrides = new Map([[venue, new Map([[slot, [word, 1] as const]])]]);
  const part = { venue, overrides, timestamp: null, ageMs: 1_000, order: 1 };
  const sources = [{ source: { id: 'unknown' }, parts: [part] }];
  feed.take([{ blockNumber: 10n, ageMs: 1_000, aloneMs: 1_000, sources }]);
  feed.read();
  clock.ms = 7_000;
  expect([wordIn(feed.state()), namesIn({ feed })]).toEqual([2, null]);
  clock.ms = 7_001;
  expect(feed.state()).toBeUndefined();
});

type Opened = ReturnType<typeof feedOf>;

const namesIn = ({ feed }: Pick<Opened, 'feed'>) => {
  const state = feed.state();
  return state && feed.holders({ ...state, timestamp: 0n }, null);
};

function sharedBy({ feed }: Pick<Opened, 'feed'>) {
  const overrides = feed.shared();
  if (!overrides) throw new Error('nothing is shared');
  return overrides;
}
