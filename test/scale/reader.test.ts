import { Agent, get } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import type { SupervisedProcess } from '../chaos/supervised-process.ts';
import { openWorld } from '../harness/open-world.ts';
import { scrape } from '../operations/scrape.ts';
import { failingWorld, RECOVERY } from '../stream/failing-world.ts';
import { comparable } from '../stream/truth.ts';

const PROCESSES = 3;
const FOLLOWERS = 18;
const ASKERS = 8;
/**
 * Another process reads within a second, where processes need not wait for the CPU:
 * the faster of two takeovers shows it.
 */
const TAKEOVER_MS = 2_000;
const PAUSED_BLOCKS = 8;
const DOWN_MS = 3_000;
const REORGANISED = 3;
const READ_FOR_ALL = 'chain_blocks_read_for_all_total';

/** An answer with a quote. */
interface Answer {
  /** The connection that it came over: one process has it. */
  readonly socket: Socket;
  /** When it came, by `performance.now()`. */
  readonly at: number;
  /** Grows when a reorganisation begins and when all processes show its blocks: odd within one. */
  readonly epoch: number;
  readonly block: number;
  readonly hash: string;
  readonly pool: string;
  readonly depth: boolean;
  readonly quote: object;
}

const answers: Answer[] = [];
const failures: string[] = [];
const takeovers: number[] = [];
let epoch = 0;
const world = failingWorld({ prefix: 'pamm', processes: PROCESSES });
const clients = openWorld(async (ends) => {
  const followers = world.follow(FOLLOWERS, (n) => n % 3 === 0);
  const end = new AbortController();
  const askers = Array.from({ length: ASKERS }, () => ask(end.signal));
  ends.defer(() => Promise.all(askers).then(() => undefined));
  ends.defer(() => end.abort());
  await world.allFollow(followers);
  return { followers };
});

const allFollow = () => world.allFollow(clients.followers);

/** Asks for one quote after the other over one connection, and over another one when it breaks. */
async function ask(signal: AbortSignal): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const pools = world.chain.pools.flat();
  for (let turn = 0; !signal.aborted; turn += 1) {
    const pool = pools[Math.floor(Math.random() * pools.length)] ?? '';
    await askOnce(agent, pool, turn % 2 === 0).catch((error) => failures.push(String(error.code)));
    // biome-ignore lint/plugin: the pace of requests.
    await sleep(40);
  }
  agent.destroy();
}

function askOnce(agent: Agent, pool: string, depth: boolean): Promise<void> {
  const { chain, api } = world;
  const url = `${api.url}/public/v1/evm/${chain.chainId}/${pool}/bid_ask?depth=${depth}`;
  return new Promise((resolve, reject) => {
    const request = get(url, { agent }, async (response) => {
      const { socket } = response;
      try {
        const parts: Buffer[] = [];
        for await (const part of response) parts.push(part);
        const text = Buffer.concat(parts).toString();
        if (response.statusCode !== 200) failures.push(`${response.statusCode} ${text}`);
        else {
          const { headers } = response;
          const [block, hash] = [Number(headers['x-block-number']), String(headers['x-block-hash'])];
          answers.push({ socket, at: performance.now(), epoch, block, hash, pool, depth, quote: JSON.parse(text) });
        }
        resolve();
      } catch (error) {
        reject(error);
      }
    });
    request.on('error', reject);
  });
}

/** The process that reads the chain for all now. */
async function reader(): Promise<SupervisedProcess> {
  const counts = () => Promise.all(world.processes.map((process) => blocksReadBy(process).catch(() => 0)));
  const before = await counts();
  return vi.waitUntil(async () => {
    const grown = (await counts()).map((count, index) => count - (before[index] ?? 0));
    const most = Math.max(...grown);
    return most >= 3 && world.processes[grown.indexOf(most)];
  }, RECOVERY);
}

const blocksReadBy = async ({ operations }: SupervisedProcess) => (await scrape(operations)).sum(READ_FOR_ALL) ?? 0;

/**
 * Resolves with the time until clients had the second block from now on, since it was mined: its read began without the
 * process that is gone. Blocks come more slowly on a busy machine.
 */
async function takeover(): Promise<number> {
  const [from, second] = [performance.now(), world.truth.height + 2];
  const next = await vi.waitUntil(() => answers.find(({ at, block }) => at >= from && block >= second), RECOVERY);
  return next.at - Math.max(from, world.truth.minedAt(second) ?? next.at);
}

const chainCalls = () => total('rpc_requests_total', { method: 'eth_call' });

/** Over all processes. */
async function total(name: string, labels?: Readonly<Record<string, string>>): Promise<number> {
  const pages = await Promise.all(world.processes.map(({ operations }) => scrape(operations)));
  return pages.reduce((sum, page) => sum + (page.sum(name, labels) ?? 0), 0);
}

test('one of the processes reads each block for all', async () => {
  await reader();
  await allFollow();
  const [height, calls] = [world.truth.height, await chainCalls()];
  await vi.waitUntil(() => world.truth.height >= height + 20, RECOVERY);
  const perBlock = ((await chainCalls()) - calls) / (world.truth.height - height);
  // One process takes four calls for the head, and not every block is taken.
  expect(perBlock).toBeGreaterThan(0.5);
  expect(perBlock).toBeLessThan(5);
});

test('the reader is killed: another reads', async () => {
  process.kill((await reader()).pid ?? 0, 'SIGKILL');
  takeovers.push(await takeover());
  await allFollow();
});

test('the reader is paused: another reads, and what it says afterwards changes nothing', {
  timeout: 120_000,
}, async () => {
  const { pid = 0 } = await reader();
  process.kill(pid, 'SIGSTOP');
  try {
    takeovers.push(await takeover());
    expect(Math.min(...takeovers)).toBeLessThan(TAKEOVER_MS);
    // As long as the other reads many blocks.
    const { height } = world.truth;
    await vi.waitUntil(() => world.truth.height >= height + PAUSED_BLOCKS, RECOVERY);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await allFollow();
});

test('Redis is gone: each reads for itself, and one for all when it is back', async () => {
  const height = world.truth.height;
  const down = world.redis.crash(DOWN_MS);
  // Nobody waits for Redis: clients have new blocks while it is down.
  await vi.waitUntil(() => clients.followers.every(({ completeAt }) => completeAt > height + 2), RECOVERY);
  await down;
  await reader();
  await allFollow();
});

test('blocks are replaced: all show the new ones', async () => {
  for (const depth of [1, REORGANISED]) {
    epoch += 1;
    await world.reorganise(depth);
    await allFollow();
    epoch += 1;
    await allFollow();
  }
});

test('every answer equals the chain at its block, none is older than one before, and streams lost nothing', async () => {
  const isKnown = ({ hash, pool, depth }: Answer) => world.truth.quote(hash, pool, depth) !== undefined;
  await vi.waitUntil(() => answers.filter(isKnown).length > 1_000, { ...RECOVERY, interval: 500 });
  const wrong: string[] = [];
  let compared = 0;
  const compare = (hash: string, pool: string, depth: boolean, quote: object, who: string) => {
    const expected = world.truth.quote(hash, pool, depth);
    if (expected === undefined) return;
    compared += 1;
    const text = comparable(quote, depth);
    if (expected !== text) wrong.push(`${who}, pool ${pool}, block ${hash}: ${text}, not ${expected}`);
  };
  for (const { hash, pool, depth, quote } of answers) compare(hash, pool, depth, quote, 'REST');
  const ofRest = compared;
  for (const [index, { claims, plan }] of clients.followers.entries()) {
    for (const { hash, quotes } of claims) {
      for (const [pool, quote] of quotes) compare(hash, pool, plan.depth, quote, `client ${index}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(compared - ofRest).toBeGreaterThan(1_000);
  expect(clients.followers.flatMap(({ faults }) => faults)).toEqual([]);
  const newest = new Map<Socket, { readonly epoch: number; readonly block: number }>();
  const older: string[] = [];
  for (const answer of answers) {
    const before = newest.get(answer.socket);
    const isComparable = answer.epoch % 2 === 0 && before?.epoch === answer.epoch;
    if (isComparable && answer.block < before.block) older.push(`${answer.block} < ${before.block}`);
    newest.set(answer.socket, answer);
  }
  expect(older).toEqual([]);
  // Resets are those of the process that was killed. On a busy machine a read may take too long: who began it gets 500.
  const [late, others] = [/^50[03] /, /^(?!50[03] |(ECONNRESET|EPIPE)$)/].map((kind) =>
    failures.filter((each) => kind.test(each)),
  );
  expect(others).toEqual([]);
  expect(await total('http_request_duration_seconds_count', { fault: 'defect' })).toBe(0);
  expect(late?.length).toBeLessThan(answers.length / 100);
});
