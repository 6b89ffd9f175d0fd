import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pino from 'pino';
import { type Hex, parseTransaction, zeroAddress } from 'viem';
import { expect, onTestFinished, test } from 'vitest';
import { ChainRpc } from '../../chain/chain-rpc.ts';
import { KNOWN_MS } from '../../chain/node-abilities.ts';
import { RpcEndpoint } from '../../chain/rpc-endpoint.ts';
import { priceAround } from '../../devnet/live/live-market.fixture.ts';
import type { LivePool } from '../../devnet/live/live-pools.ts';
import type { QuoteUpdate } from '../../devnet/live/maker.ts';
import type { FeedPrice } from '../../devnet/live/registry.ts';
import { encodeOwnUpdate, ownUpdatesChannel } from '../../quoting/live/own-update.ts';
import { watchTraces } from '../../quoting/live/trace-watch.ts';
import { liveWarnings } from '../../quoting/open-chains.ts';
import { startedWorld } from '../harness/open-world.ts';
import { newUuid } from '../pamm/sample-updates.ts';
import { kindsOf, startOwnWorld } from './own-world.ts';

/* What published updates cost the nodes, and what happens where those cannot trace. */

/** On a busy machine the process may have become the reader again, which never saw what was sent before. */
const SEND_AGAIN_ROUNDS = 10;
const SEND_AGAIN = { interval: 200 };

const world = startedWorld(() => startOwnWorld({ flatPools: 1, packedPools: 1 }));

const REFUSAL = {
  kind: 'error',
  code: -32_601,
  message: 'the method debug_traceCall does not exist/is not available',
} as const;
/** At the same time. */
const MOST_TRACES = 4;
const isTrace = ({ method }: { readonly method: string }) => method === 'debug_traceCall';
type Request = { readonly method: string; readonly params: unknown };
const isProbe = ({ params }: Request) => (params as readonly unknown[])[1] === 'latest';
/** Not of what a pool reads, which runs from no account. */
const isTraceOfUpdate = (request: Request) =>
  isTrace(request) && !isProbe(request) && !JSON.stringify(request.params).includes(`"from":"${zeroAddress}"`);
const traces = () => world.proxy.requests.filter(isTraceOfUpdate).length;
const warnings = () => liveWarnings(new Map([[world.config.chainId, world.quotes.chain]]));

/** About the price at which pools are made, another one in each round. */
function priceIn(round: number): FeedPrice {
  const { bidX64, askX64 } = priceAround(200n);
  return { bidX64: bidX64 + BigInt(round), askX64: askX64 + BigInt(round) };
}
const dataOf = ({ transaction }: QuoteUpdate) => `${parseTransaction(transaction).data}`;

/** Makes traces of updates slow, so that they pile up if they can. Gives the most at the same time so far. */
function slowTraces(): () => number {
  const ms = 60;
  let running = 0;
  let most = 0;
  world.proxy.misbehave({ kind: 'slow', ms }, (request) => {
    if (!isTraceOfUpdate(request)) return false;
    running += 1;
    most = Math.max(most, running);
    setTimeout(() => {
      running -= 1;
    }, ms);
    return true;
  });
  return () => most;
}

test.each([
  [1, 'publisher'],
  [60, 'publishers'],
])('%s %s with a thousand updates a second get their share of traces, others stay live', async (senders) => {
  const { market, prefix, redisUrl, config, proxy } = world;
  await market.builder.buildBlock();
  const [pool, other] = market.pools as [LivePool, LivePool];
  const block = market.builder.block();
  const key = await world.issue(true);
  const redis = new Redis(redisUrl);
  const uuids = Array.from({ length: 500 }, newUuid);
  const before = traces();
  const most = slowTraces();
  const startedAt = performance.now();
  let sent = 0;
  const publish = (round: number, tx: Hex) => {
    const text = encodeOwnUpdate({
      sender: `hostile ${sent % senders}`,
      uuid: uuids[sent % uuids.length] ?? '0x',
      seq: BigInt(round),
      tx,
      fromBlock: block.number,
      untilBlock: block.number,
      sentAtMs: Date.now(),
    });
    void redis.publish(ownUpdatesChannel(prefix, config.chainId), text);
    sent += 1;
  };
  /** By what a transaction writes: the round of the flood in which it was sent. */
  const floods = new Map<string, number>();
  const others = new Map<string, number>();
  let isLive = false;
  const isTraced = () => isLive && traces() - before > 10;
  for (let round = 1; round <= 40 || !isTraced(); round += 1) {
    const flood = await pool.maker.sign(block, priceIn(round));
    floods.set(dataOf(flood), round);
    // A round that comes late makes up for it.
    while (sent < performance.now() - startedAt + 100) publish(round, flood.transaction);
    if (round % SEND_AGAIN_ROUNDS === 0 && !isLive) {
      const update = await other.maker.sign(block, priceIn(round));
      others.set(dataOf(update), round);
      await world.sendUpdate(key, update);
    }
    if (round > SEND_AGAIN_ROUNDS && !isLive) isLive = kindsOf(await world.batch())[1] === 'live';
    // biome-ignore lint/plugin: the pace of updates.
    await sleep(Math.max(0, startedAt + round * 100 - performance.now()));
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  expect(sent).toBeGreaterThanOrEqual(4_000);
  expect(traces() - before).toBeLessThanOrEqual(50 * seconds + 1);
  expect(most()).toBeLessThanOrEqual(MOST_TRACES);
  const traced = proxy.requests
    .filter(isTraceOfUpdate)
    .slice(before)
    .map(({ params }) => JSON.stringify(params));
  const roundIn = (sentIn: ReadonlyMap<string, number>, call: string) =>
    sentIn.entries().find(([data]) => call.includes(data))?.[1];
  const place = traced.findIndex((call) => roundIn(others, call) !== undefined);
  const sentIn = roundIn(others, traced[place] ?? '') ?? 0;
  expect(sentIn).toBeGreaterThan(0);
  // What was sent after it shows that it had come: from then on each of the others has one turn before it.
  const later = traced.slice(0, place).filter((call) => (roundIn(floods, call) ?? 0) > sentIn);
  expect(later.length).toBeLessThanOrEqual(senders + 2 * MOST_TRACES);
  await expect.poll(async () => kindsOf(await world.batch())[1]).toBe('live');
  proxy.misbehave(null);
  redis.disconnect();
});

test('malformed and oversized messages change nothing', async () => {
  const { market, prefix, redisUrl, config } = world;
  await market.builder.buildBlock();
  const [pool, other] = market.pools as [LivePool, LivePool];
  const block = market.builder.block();
  const { transaction } = await pool.maker.sign(block, priceAround(200n));
  const marker = await other.maker.sign(block, priceAround(200n));
  const good = {
    sender: 'maker',
    uuid: newUuid(),
    seq: '1',
    tx: transaction,
    fromBlock: String(block.number),
    untilBlock: String(block.number),
    sentAtMs: Date.now(),
  };
  const wrong: readonly unknown[] = [
    null,
    [],
    { ...good, seq: 1 },
    { ...good, seq: '-1' },
    { ...good, uuid: '0x12' },
    { ...good, tx: 'what' },
    { ...good, tx: `${transaction}00`, uuid: newUuid() },
    { ...good, tx: `0x${'00'.repeat(40_000)}` },
    { ...good, untilBlock: '1e9' },
    { ...good, sentAtMs: Date.now() - 200_000 },
    { ...good, further: 1 },
    { ...good, sender: '' },
  ];
  const redis = new Redis(redisUrl);
  const channel = ownUpdatesChannel(prefix, config.chainId);
  const { data } = parseTransaction(transaction);
  // Updates of other tests may still be traced.
  const tracesOfIt = () =>
    world.proxy.requests.filter((it) => isTrace(it) && JSON.stringify(it.params).includes(`${data}`));
  const untilKinds = (kinds: readonly string[], messages: readonly string[]) => {
    const found = async () => {
      for (const message of messages) await redis.publish(channel, message);
      return kindsOf(await world.batch());
    };
    return expect.poll(found, SEND_AGAIN).toEqual(kinds);
  };
  // Of the same sender, and so traced after whatever would be traced of them.
  const last = JSON.stringify({ ...good, uuid: newUuid(), tx: marker.transaction });
  await untilKinds(['committed', 'live'], [...wrong.map((it) => JSON.stringify(it)), '{', '', last]);
  expect(tracesOfIt()).toEqual([]);
  await untilKinds(['live', 'live'], [JSON.stringify(good)]);
  redis.disconnect();
});

test('nodes without debug_traceCall, or that ignore its overrides, are a warning, once', async () => {
  const { proxy, config } = world;
  expect(warnings()).toEqual({});
  const lines: string[] = [];
  const logger = pino({ level: 'info' }, { write: (line: string) => lines.push(line) });
  let now = 0;
  const options = { timeoutMs: 1_000, count: () => undefined, now: () => now };
  const rpc = new ChainRpc(config.rpcUrls.map((url) => new RpcEndpoint(url, options)));
  const watch = watchTraces(rpc, logger as never, 20);
  /** What a probe finds that began before the node changed may be noted after that: it holds no longer than a look. */
  const poll = <T>(found: () => T) =>
    expect.poll(() => {
      now += KNOWN_MS;
      return found();
    });
  await poll(watch.isAvailable).toBe(true);
  /** Waits until the node was probed three times more, and so what the first two probes found is known. */
  const untilProbed = async () => {
    const probes = () => proxy.requests.filter((it) => isTrace(it) && isProbe(it)).length;
    for (let probe = 0; probe < 3; probe += 1) {
      const before = probes();
      await poll(probes).toBeGreaterThan(before);
    }
  };
  const ignored = { kind: 'result', result: { pre: {}, post: {} } } as const;
  for (const [index, behaviour] of [REFUSAL, ignored].entries()) {
    proxy.misbehave(behaviour, isTrace);
    await poll(watch.warning).toMatch(/debug_traceCall/);
    await untilProbed();
    expect(watch.isAvailable()).toBe(false);
    expect(lines).toHaveLength(index + 1);
    proxy.misbehave(null);
    await poll(watch.isAvailable).toBe(true);
    expect(watch.warning()).toBeUndefined();
  }
  // A node that is gone for a moment says nothing of what it can do.
  proxy.misbehave({ kind: 'down' });
  await untilProbed();
  expect(watch.isAvailable()).toBe(true);
  proxy.misbehave(null);
  watch.stop();
});

test('an API whose node does not trace quotes committed prices, says so, and does not ask in vain', async () => {
  const poor = await startOwnWorld({ flatPools: 1, packedPools: 0 }, (proxy) => proxy.misbehave(REFUSAL, isTrace));
  onTestFinished(() => poor.stop());
  const { market, config, quotes, proxy } = poor;
  const [pool] = market.pools as [LivePool];
  const update = await pool.maker.sign(market.builder.block(), priceAround(200n));
  await poor.sendUpdate(await poor.issue(true), update);
  expect(kindsOf(await poor.batch())).toEqual(['committed']);
  await expect
    .poll(() => liveWarnings(new Map([[config.chainId, quotes.chain]])))
    .toEqual({
      [`live-${config.chainId}`]: expect.stringMatching(/^published quote updates .* debug_traceCall/),
    });
  // Probes alone: a busy machine may have time for a second one.
  expect(proxy.requests.filter((it) => isTrace(it) && !isProbe(it))).toEqual([]);
});
