import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect, test } from 'vitest';
import { ChainConfig } from '../../config/chains-schema.ts';
import type { Received } from '../../devnet/mock-builders/behaviour.ts';
import { type MockBuilder, startMockBuilder } from '../../devnet/mock-builders/mock-builder.ts';
import { type Random, seededRandom } from '../../devnet/traffic/random.ts';
import { startRedis } from '../../local/services/redis.ts';
import { createMigratedDatabase } from '../harness/database.ts';
import { openWorld, startedWorld } from '../harness/open-world.ts';
import { PROPERTY_SEED, repeatCommand } from '../harness/property-seed.ts';
import { eventually } from './eventually.ts';
import { BLOCKS_PER_MAKER, CHAIN, load, Maker, submit } from './makers.ts';
import { createProcesses, type Restartable } from './processes.ts';
import { signedTx } from './sample-updates.ts';

/** Kills every part at random times under load, and looks at what the builders received and the clients heard. */

const STREAMS = 2;
/** How long a request that was in flight when its cancel was answered may take to be seen by the builder. */
const IN_FLIGHT_MS = 1_500;
const LOAD_SECS = 6;
/** How long recovery may take: builders that broke connections again and again are dialled at longer intervals. */
const TIMEOUT_MS = 60_000;

const redis = startedWorld(() => startRedis({ durable: true, prefix: 'pamm' }));
const database = startedWorld(createMigratedDatabase);
/** `ordered`: builders that get every update and cancel in order, the streams and the relayer. */
const world = openWorld(async (ends) => {
  const startBuilder = async () => ends.adopt(await startMockBuilder(), (mock) => mock.stop());
  const [bundler, relayer, mocks] = await Promise.all([
    startBuilder(),
    startBuilder(),
    Promise.all(Array.from({ length: STREAMS }, startBuilder)),
  ]);
  // Blocks so fast that the bar of a cancelled uuid ends after half a second, and none reaches those of makers.
  const openedAt = performance.now();
  relayer.state.relayer.head = () => BigInt(Math.floor((performance.now() - openedAt) / 5));
  const chain = ChainConfig.parse({
    chainId: CHAIN,
    name: 'chaos',
    rpcUrls: ['http://127.0.0.1:1'],
    blockTimeMs: 1_000,
    deployments: [],
    pamm: {
      kind: 'bsc',
      builders: [
        ...mocks.map(({ streamUrl }, index) => ({ id: `b${index}`, transport: 'quote-stream', url: streamUrl })),
        { id: 'bundler', transport: 'bundle', url: bundler.bundleUrl },
        { id: 'relayer', transport: 'relayer', url: relayer.relayerUrl },
      ],
    },
  });
  const processes = await createProcesses({ chains: [chain], redisUrl: redis.url, databaseUrl: database.url });
  ends.defer(processes.remove);
  return { processes, bundler, ordered: [...mocks, relayer], tx: await signedTx(CHAIN) };
});

/** Kills one part of a group after the other at random times, at least two, and starts it again. */
async function disturb(victims: readonly Restartable[], random: Random, untilMs: number): Promise<void> {
  for (let kills = 0; kills < 2 || Date.now() < untilMs; kills++) {
    const victim = random.pick(victims);
    await victim.kill();
    // biome-ignore lint/plugin: a victim is gone for a random time.
    await sleep(random.integer(0, 300));
    await victim.restart();
    // biome-ignore lint/plugin: the pace of kills.
    await sleep(random.integer(500, 2_500));
  }
}

/** A builder whose connections break and who refuses new ones until it is back. */
function builderAsVictim(mock: MockBuilder): Restartable {
  return {
    kill: async () => {
      mock.breakConnections();
      mock.state.behaviour = { kind: 'http-status', status: 503 };
    },
    restart: async () => {
      mock.state.behaviour = { kind: 'ack' };
    },
    stop: async () => undefined,
  };
}

/** What a builder received of one maker, as it came in. */
const receivedOf = (mock: MockBuilder, { uuid }: Maker): Received[] =>
  mock.state.received.filter(({ replacementUuid }) => replacementUuid === uuid);

const bundlesOf = ({ firstBlock }: Maker) =>
  world.bundler.state.received
    .map(({ blockNumber, atNs }) => ({
      seq: Number(blockNumber) - firstBlock,
      atMs: Number(BigInt(atNs) / 1_000_000n),
    }))
    .filter(({ seq }) => seq > 0 && seq < BLOCKS_PER_MAKER);

/** Everything works again: the newest update of each maker reaches every builder. */
async function expectAllDelivered(base: string, makers: readonly Maker[]): Promise<void> {
  for (const maker of makers) {
    maker.seq += 1;
    const last = maker.seq;
    await eventually(async () => {
      await submit(base, maker, { seq: last, cancel: true });
      return world.ordered.every((mock) => receivedOf(mock, maker).at(-1)?.replacementSeqNumber === String(last));
    }, TIMEOUT_MS);
  }
}

/** No builder got an older update after a newer one, and so no quote after its cancel. */
function expectOrdered(makers: readonly Maker[]): void {
  for (const mock of world.ordered) {
    for (const maker of makers) {
      const sequence = receivedOf(mock, maker).map(({ replacementSeqNumber }) => Number(replacementSeqNumber));
      expect(sequence).toEqual(sequence.toSorted((a, b) => a - b));
    }
  }
}

/** Nor did the bundle builder, which gets no cancels; what a cancel removed was not sent after it. */
function expectOrderedBundles(makers: readonly Maker[]): void {
  expect(world.bundler.state.received.length).toBeGreaterThan(5);
  for (const maker of makers) {
    const bundles = bundlesOf(maker);
    const sequence = bundles.map(({ seq }) => seq);
    expect(sequence).toEqual(sequence.toSorted((a, b) => a - b));
    const revived = bundles.filter(({ seq, atMs }) =>
      maker.cancels.some((cancel) => seq <= cancel.seq && atMs > cancel.answeredAtMs + IN_FLIGHT_MS),
    );
    expect(revived).toEqual([]);
  }
}

/** Another worker continues the audit trail. */
async function expectAudited(): Promise<void> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const outcomes = await eventually(async () => {
    const { rows } = await client.query(
      `SELECT count(*)::int AS n, count(*) FILTER (WHERE provider LIKE 'relayer:%')::int AS relayer
       FROM read_model.pamm_submission JOIN read_model.pamm_answer USING (submission_id) WHERE outcome = 'accepted'`,
    );
    return rows[0].n > 50 && rows[0].relayer > 10 && rows[0].n;
  }, TIMEOUT_MS);
  expect(outcomes).toBeGreaterThan(50);
  await client.end();
}

test('order and cancels hold while worker, API, Redis and builders are killed', {
  timeout: 300_000,
}, async ({ onTestFailed }) => {
  onTestFailed(() => void process.stdout.write(`Repeat: ${repeatCommand()}\n`));
  const { processes, ordered, bundler, tx } = world;
  const [api1, api2, worker1, worker2] = await Promise.all([
    processes.startApi(),
    processes.startApi(),
    processes.startWorker(),
    processes.startWorker(),
  ]);
  const makers = Array.from({ length: 12 }, (_, index) => new Maker(index, tx));
  const [first = new Maker(0, tx)] = makers;
  await eventually(async () => {
    await submit(api1.base, first, first.advance());
    return ordered.every((mock) => receivedOf(mock, first).length > 0);
  }, TIMEOUT_MS);

  const untilMs = Date.now() + LOAD_SECS * 1_000;
  const builders = [...ordered, bundler].map(builderAsVictim);
  const groups: Restartable[][] = [[worker1, worker2], [api1], [redis], builders];
  const over = new AbortController();
  const [statuses] = await Promise.all([
    load([api1.base, api2.base], makers, seededRandom(PROPERTY_SEED), over.signal),
    Promise.all(groups.map((group, index) => disturb(group, seededRandom(PROPERTY_SEED + index), untilMs))).finally(
      () => over.abort(),
    ),
  ]);

  // The API answers whatever has died: results, or that it cannot take the update now.
  expect(statuses.length).toBeGreaterThan(30);
  expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
  expect(statuses).toContain(200);

  await expectAllDelivered(api2.base, makers);
  expectOrdered(makers);
  expectOrderedBundles(makers);
  await expectAudited();
  await Promise.all([api1.stop(), api2.stop(), worker1.stop(), worker2.stop()]);
});
