import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { connectSse, connectWebSocket } from '../stream/stream-connection.ts';
import { Follower } from './follower.ts';
import { comparable } from './truth.ts';
import { type FailingWorld, startFailingWorld } from './world.ts';

const FOLLOWERS = 60;
/** Of these, the ones that reconnect during a failure. */
const NEWCOMERS = 10;
const DOWN_MS = 1_500;
/** Of a busy machine. */
const RECOVERY = { timeout: 60_000, interval: 100 };
/** Connections to the node, Postgres and Redis come and go. */
const FILES_TOLERANCE = 12;

let world: FailingWorld;
let filesBefore: number;
let followers: Follower[] = [];

beforeAll(async () => {
  world = await startFailingWorld();
  // Connections to everything are open before they are counted.
  const first = follow(0);
  await vi.waitUntil(() => first.completeAt > 0, RECOVERY);
  first.stop();
  filesBefore = await world.openFiles();
  followers = Array.from({ length: FOLLOWERS }, (_, index) => follow(index));
}, 240_000);

afterAll(async () => {
  for (const follower of followers) follower.stop();
  await world?.stop();
});

/** Every other by WebSocket, a tenth with depth, half of the pools. */
function follow(index: number): Follower {
  const { chain, api } = world;
  return new Follower({
    connect: index % 2 === 0 ? connectSse : connectWebSocket,
    url: api.url,
    chainId: chain.chainId,
    depth: index % 10 < 2,
    pools: chain.pools.flat().filter((_, pool) => (pool + index) % 2 === 0),
  });
}

/** Resolves when each follower holds all its quotes of a block that was not there before. */
async function allFollow(): Promise<void> {
  const height = world.truth.height;
  await vi.waitUntil(() => followers.every(({ completeAt }) => completeAt > height), RECOVERY);
}

/** Kills a server for a while, during which some clients reconnect. */
async function crash(server: FailingWorld['node']): Promise<void> {
  const crashed = server.crash(DOWN_MS);
  for (const follower of followers.slice(0, NEWCOMERS)) follower.reopen();
  await crashed;
  await allFollow();
}

test('whatever is killed, clients recover, and no quote that they held was wrong', async () => {
  const { node, api, redis, postgres } = world;
  await allFollow();
  await crash(node);
  expect(api.kill()).toBe(true);
  await vi.waitUntil(() => followers.every(({ reconnects }) => reconnects > 0), RECOVERY);
  await allFollow();
  const reconnects = followers.map((follower) => follower.reconnects);
  await crash(redis);
  await crash(postgres);
  // Who did not leave was not sent away.
  expect(followers.slice(NEWCOMERS).map((follower) => follower.reconnects)).toEqual(reconnects.slice(NEWCOMERS));
  expect(followers.flatMap(({ faults }) => faults)).toEqual([]);
  const { compared, wrong } = compareWithRest();
  expect(wrong).toEqual([]);
  expect(compared).toBeGreaterThan(FOLLOWERS * 50);
});

/** Compares all that clients ever held for a block with what REST said at that block. */
function compareWithRest() {
  const wrong: string[] = [];
  let compared = 0;
  for (const [index, { claims, plan }] of followers.entries()) {
    for (const { block, hash, quotes } of claims) {
      for (const [pool, quote] of quotes) {
        const expected = world.truth.quote(hash, pool, plan.depth);
        if (expected === undefined) continue;
        compared += 1;
        const text = comparable(quote, plan.depth);
        if (expected !== text) wrong.push(`client ${index}, pool ${pool}, block ${block}: ${text}, not ${expected}`);
      }
    }
  }
  return { compared, wrong };
}

test('when they leave, nothing of them is left', async () => {
  for (const follower of followers) follower.stop();
  await vi.waitUntil(async () => (await world.openFiles()) <= filesBefore + FILES_TOLERANCE, RECOVERY);
});
