import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newUuid, signedTx } from '../../builders/testing/updates.ts';
import { ChainConfig } from '../../config/chains-schema.ts';
import { migrate } from '../../db/migrate.ts';
import type { Received } from '../../devnet/mock-builders/behaviour.ts';
import { type MockBuilder, startMockBuilder } from '../../devnet/mock-builders/mock-builder.ts';
import { type Redis, startRedis } from '../../devnet/services/redis.ts';
import { createDatabase, type TestDatabase } from '../harness/database.ts';
import { eventually } from './eventually.ts';
import { createProcesses, type Restartable } from './processes.ts';

/** Kills every part at random moments under load, and looks at what the builders received and the clients heard. */

const CHAIN = 31338;
const STREAMS = 2;
/** Makers share the block numbers, which is all that tells them apart in a bundle. */
const BLOCKS_PER_MAKER = 100_000;
/** How long a request that was in flight when its cancel was answered may take to be seen by the builder. */
const IN_FLIGHT_MS = 1_500;
const LOAD_SECS = 12;
const PER_SECOND = 60;
/** How long recovery may take: builders that broke connections again and again are dialled at longer intervals. */
const PATIENCE_MS = 60_000;

let redis: Redis;
let database: TestDatabase;
let processes: Awaited<ReturnType<typeof createProcesses>>;
let mocks: MockBuilder[];
let bundler: MockBuilder;
let tx: string;

beforeAll(async () => {
  [redis, database, bundler, mocks, tx] = await Promise.all([
    startRedis({ durable: true }),
    createDatabase(),
    startMockBuilder(),
    Promise.all(Array.from({ length: STREAMS }, () => startMockBuilder())),
    signedTx(CHAIN),
  ]);
  await migrate(database.url);
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
      ],
    },
  });
  processes = await createProcesses({ chains: [chain], redisUrl: redis.url, databaseUrl: database.url });
});

afterAll(async () => {
  await Promise.all([...mocks, bundler].map((mock) => mock.stop()));
  await Promise.all([redis.stop(), database.drop(), processes.remove()]);
});

type Answered = { readonly status: number; readonly late: boolean };

/**
 * Whether an answer misses its deadline by more than the process that gives it is slowed down by a busy machine: a
 * trivial request sent beside it shows when it can have been read, and one sent at the deadline must not be answered
 * long before it.
 */
async function missesDeadline(base: string, isAnswered: () => boolean): Promise<boolean> {
  await trivialRequest(base);
  await sleep(500);
  for (const graceMs of [100, 200]) {
    if (isAnswered() || (await trivialRequest(base)) === undefined) return false;
    await sleep(graceMs);
  }
  return !isAnswered();
}

const trivialRequest = (base: string) =>
  fetch(`${base}/nothing`)
    .then((response) => response.text())
    .catch(() => undefined);

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** One maker: its sequence number grows, but some requests are late ones with an older number. */
class Maker {
  readonly uuid = newUuid();
  readonly firstBlock: number;
  /** Cancels that were taken: their sequence numbers and when they were answered, Unix milliseconds. */
  readonly cancels: { seq: number; answeredAtMs: number }[] = [];
  seq = 0;

  constructor(index: number) {
    this.firstBlock = (index + 1) * BLOCKS_PER_MAKER;
  }

  next(random: number): { seq: number; cancel: boolean } {
    if (random < 0.15 && this.seq > 2) return { seq: this.seq - 1, cancel: false };
    this.seq += 1;
    return { seq: this.seq, cancel: random > 0.85 };
  }
}

async function submit(
  base: string,
  maker: Maker,
  { seq, cancel }: { seq: number; cancel: boolean },
): Promise<Answered> {
  let answered = false;
  const late = missesDeadline(base, () => answered);
  const response = await fetch(`${base}/public/v1/evm/${CHAIN}/pamm-quote`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: 'Bearer any' },
    body: JSON.stringify({
      tx: cancel ? '0x' : tx,
      blockNumber: maker.firstBlock + seq,
      maxTimestamp: Math.floor(Date.now() / 1_000) + 4,
      replacementUuid: maker.uuid,
      replacementSeqNumber: seq,
    }),
  });
  await response.text();
  answered = true;
  if (cancel && response.status === 200) maker.cancels.push({ seq, answeredAtMs: Date.now() });
  return { status: response.status, late: await late };
}

/** Sends random updates to random processes; a refused connection belongs to a killed process and counts as nothing. */
async function load(bases: string[], makers: Maker[], over: AbortSignal): Promise<Answered[]> {
  const answers: Promise<Answered | undefined>[] = [];
  while (!over.aborted) {
    const maker = pick(makers);
    const base = pick(bases);
    answers.push(submit(base, maker, maker.next(Math.random())).catch(() => undefined));
    await sleep(1_000 / PER_SECOND);
  }
  return (await Promise.all(answers)).filter((answer) => answer !== undefined);
}

/** Kills one part of a group after the other at random moments, at least two, and starts it again. */
async function disturb(victims: readonly Restartable[], untilMs: number): Promise<void> {
  for (let kills = 0; kills < 2 || Date.now() < untilMs; kills++) {
    const victim = pick(victims);
    await victim.kill();
    await sleep(Math.random() * 300);
    await victim.restart();
    await sleep(500 + Math.random() * 2_000);
  }
}

function pick<T>(items: readonly T[]): T {
  const item = items[Math.floor(Math.random() * items.length)];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
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
  bundler.state.received
    .map(({ blockNumber, atNs }) => ({
      seq: Number(blockNumber) - firstBlock,
      atMs: Number(BigInt(atNs) / 1_000_000n),
    }))
    .filter(({ seq }) => seq > 0 && seq < BLOCKS_PER_MAKER);

test('order, cancels and deadlines hold while worker, API, Redis and builders are killed', {
  timeout: 300_000,
}, async () => {
  const [api1, api2, worker1, worker2] = await Promise.all([
    processes.startApi(),
    processes.startApi(),
    processes.startWorker(),
    processes.startWorker(),
  ]);
  const bases = [api1.base, api2.base];
  const makers = Array.from({ length: 12 }, (_, index) => new Maker(index));
  const first = pick(makers);
  await eventually(async () => {
    await submit(api1.base, first, first.next(0.5));
    return mocks.every((mock) => receivedOf(mock, first).length > 0);
  }, PATIENCE_MS);

  const untilMs = Date.now() + LOAD_SECS * 1_000;
  const groups: Restartable[][] = [[worker1, worker2], [api1], [redis], [...mocks, bundler].map(builderAsVictim)];
  const over = new AbortController();
  const [answers] = await Promise.all([
    load(bases, makers, over.signal),
    Promise.all(groups.map((group) => disturb(group, untilMs))).finally(() => over.abort()),
  ]);

  // The API answers in time, whatever has died: results, or that it cannot take the update now.
  expect(answers.length).toBeGreaterThan(100);
  expect(answers.filter(({ status }) => status !== 200 && status !== 503)).toEqual([]);
  expect(answers.some(({ status }) => status === 200)).toBe(true);
  expect(answers.filter(({ late }) => late)).toEqual([]);

  // Everything works again afterwards: the newest update of each maker reaches every builder.
  for (const maker of makers) {
    maker.seq += 1;
    const last = maker.seq;
    await eventually(async () => {
      await submit(api2.base, maker, { seq: last, cancel: true });
      return mocks.every((mock) => receivedOf(mock, maker).at(-1)?.replacementSeqNumber === String(last));
    }, PATIENCE_MS);
  }
  // No builder ever got an older update after a newer one; and so no quote after its cancel.
  for (const mock of mocks) {
    for (const maker of makers) {
      const sequence = receivedOf(mock, maker).map(({ replacementSeqNumber }) => Number(replacementSeqNumber));
      expect(sequence).toEqual(sequence.toSorted((a, b) => a - b));
    }
  }
  // Nor did the bundle builder, which gets no cancels; what a cancel removed was not sent after it.
  expect(bundler.state.received.length).toBeGreaterThan(20);
  for (const maker of makers) {
    const bundles = bundlesOf(maker);
    const sequence = bundles.map(({ seq }) => seq);
    expect(sequence).toEqual(sequence.toSorted((a, b) => a - b));
    const revived = bundles.filter(({ seq, atMs }) =>
      maker.cancels.some((cancel) => seq <= cancel.seq && atMs > cancel.answeredAtMs + IN_FLIGHT_MS),
    );
    expect(revived).toEqual([]);
  }
  // The audit trail goes on as well, whoever writes it.
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const outcomes = await eventually(async () => {
    const { rows } = await client.query(
      "SELECT count(*)::int AS n FROM read_model.pamm_submission JOIN read_model.pamm_answer USING (submission_id) WHERE outcome = 'accepted'",
    );
    return rows[0].n > 50 && rows[0].n;
  }, PATIENCE_MS);
  expect(outcomes).toBeGreaterThan(50);
  await client.end();
  await Promise.all([api1.stop(), api2.stop(), worker1.stop(), worker2.stop()]);
});
