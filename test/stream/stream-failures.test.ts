import { expect, test, vi } from 'vitest';
import { openWorld } from '../harness/open-world.ts';
import { type FailingWorld, failingWorld, RECOVERY } from './failing-world.ts';
import { comparable } from './truth.ts';

const FOLLOWERS = 60;
/** Of these, the ones that reconnect during a failure. */
const NEWCOMERS = 10;
const DOWN_MS = 1_500;
/** Connections to the node, Postgres and Redis come and go. */
const FILES_TOLERANCE = 12;

const world = failingWorld();
const clients = openWorld(async () => {
  // Connections to everything are open before they are counted.
  const first = world.follow(1, () => true);
  await world.allFollow(first);
  for (const follower of first) follower.stop();
  return { filesBefore: await world.openFiles(), followers: world.follow(FOLLOWERS, (n) => n % 10 < 2) };
});

const allFollow = () => world.allFollow(clients.followers);

/** Kills a server for a while, during which some clients reconnect. */
async function crash(server: FailingWorld['node']): Promise<void> {
  const crashed = server.crash(DOWN_MS);
  for (const follower of clients.followers.slice(0, NEWCOMERS)) follower.reopen();
  await crashed;
  await allFollow();
}

test('whatever is killed, clients recover, and no quote that they held was wrong', { timeout: 300_000 }, async () => {
  const { node, api, redis, postgres } = world;
  await allFollow();
  await crash(node);
  expect(api.kill()).toBe(true);
  await vi.waitUntil(() => clients.followers.every(({ reconnects }) => reconnects > 0), RECOVERY);
  await allFollow();
  const reconnects = clients.followers.map((follower) => follower.reconnects);
  await crash(redis);
  await crash(postgres);
  // Who did not leave was not sent away.
  expect(clients.followers.slice(NEWCOMERS).map((follower) => follower.reconnects)).toEqual(
    reconnects.slice(NEWCOMERS),
  );
  // A busy machine has fewer blocks meanwhile.
  while (compareWithRest().compared <= FOLLOWERS * 50) await allFollow();
  expect(clients.followers.flatMap(({ faults }) => faults)).toEqual([]);
  expect(compareWithRest().wrong).toEqual([]);
});

/** Compares all that clients ever held for a block with what REST said at that block. */
function compareWithRest() {
  const wrong: string[] = [];
  let compared = 0;
  for (const [index, { claims, plan }] of clients.followers.entries()) {
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
  for (const follower of clients.followers) follower.stop();
  await vi.waitUntil(async () => (await world.openFiles()) <= clients.filesBefore + FILES_TOLERANCE, RECOVERY);
});
