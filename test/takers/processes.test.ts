import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, inject, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { type RpcProxy, startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { FOLLOW_MS } from '../../quoting/heads/heard-heads.ts';
import { BASES, type Basis } from '../../quoting/quote-basis.ts';
import { stringifyJson } from '../../runtime/json.ts';
import { startedWorld } from '../harness/open-world.ts';
import { startLiveWorld, updateAll } from '../live/live-world.ts';
import { startApiProcess } from '../live/start-api-process.ts';
import { fixedDirectory } from '../quotes/served-pool.ts';
import { Book, type Received } from '../stream/book.ts';
import { connectSse } from '../stream/sse-client.ts';
import { type StreamApi, startStreamApi } from '../stream/stream-api.ts';
import { DECODERS } from './decoders.ts';
import { connectTexts } from './levels-client.ts';

/* A reader that goes from one process to another, whose nodes are a second behind, sees no older block there. */

const BLOCKS = 4;
const BLOCK_MS = 1_000;
const BEHIND_MS = 1_000;
/** Between reads of both: some dozens meet a node while it is behind. */
const GAP_MS = 60;

const world = startedWorld(() => startLiveWorld({ flatPools: 2, packedPools: 1 }));

/** A process with nodes of its own. */
async function open(prefix: string, clockAheadMs = 0): Promise<{ readonly api: StreamApi; readonly node: RpcProxy }> {
  const { market, config, served } = world;
  const node = await startRpcProxy(market.chain.rpcUrl, false);
  const chain = { ...config, blockTimeMs: BLOCK_MS, rpcUrls: [node.url], wsUrls: undefined };
  const sharedBy = { redisUrl: inject('redisUrl'), prefix };
  const api = await startStreamApi({ chain, directory: fixedDirectory(served), sharedBy, clockAheadMs });
  onTestFinished(() => node.stop());
  return { api, node };
}

const pools = () => world.market.pools.map(({ address }) => address);
const numberOf = (text: string): number => Number(DECODERS.builder(text).blockNumber);

/** Expects no older block than one that was seen: nodes that are behind for 2 seconds are not awaited any more. */
function expectFollowed(number: number, { highest, minedAt, seen }: Seen): void {
  if (number < highest) expect(performance.now() - minedAt, seen.join('\n')).toBeGreaterThan(FOLLOW_MS);
}

/** What was read before, and when the last block was mined at the earliest. */
interface Seen {
  readonly highest: number;
  readonly minedAt: number;
  readonly seen: readonly string[];
}

type Served = Pick<StreamApi, 'base'>;

/** What a reader of a process does to see the block being built, by what it reads: over a connection of its own. */
const READS: Readonly<Record<string, (api: Served, basis: Basis, book: Book) => Promise<number>>> = {
  async quote({ base }, basis) {
    const response = await fetch(`${base}/${pools()[0]}/bid_ask?basis=${basis}`);
    if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
    await response.text();
    return Number(response.headers.get('X-Block-Number')) + 1;
  },
  async levels({ base }, basis) {
    const response = await fetch(`${base}/price_levels?basis=${basis}&pools=${pools()}`);
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${response.status} ${text}`);
    return numberOf(text);
  },
  async frames({ base }, basis) {
    const socket = new WebSocket(`${base.replace('http', 'ws')}/price_levels?basis=${basis}&pools=${pools()}`);
    const [text] = await once(socket, 'message');
    socket.terminate();
    return numberOf(String(text));
  },
  stream: (api, basis) => firstOf(api, basis, new Book()),
  resumed: firstOf,
};

/** The block being built at the first message of a stream that has one. */
async function firstOf({ base }: Served, basis: Basis, book: Book): Promise<number> {
  const client = await connectSse(`${base}/stream?basis=${basis}&depth=false&pools=${pools()}`, book);
  await expect.poll(() => book.lastId, { interval: 5 }).toBeDefined();
  await expect.poll(() => client.messages.length, { interval: 5 }).toBeGreaterThan(0);
  client.close();
  const [{ data }] = client.messages as [Received];
  return Number((data as { blockNumber: number }).blockNumber) + 1;
}

type Name = 'first' | 'second';

/** Two processes of a reader of its own. @param minedAt when the last block was mined at the earliest */
async function openReader(what: string, basis: Basis, minedAt: () => number) {
  const prefix = randomUUID();
  const [first, second] = [await open(prefix), await open(prefix)];
  const read = READS[what] as (typeof READS)[string];
  const book = new Book();
  const seen: string[] = [];
  let highest = 0;
  const readAt = async (name: Name) => {
    const number = await read({ first, second }[name].api, basis, book);
    seen.push(`${what}: ${name} ${number}`);
    expectFollowed(number, { highest, minedAt: minedAt(), seen });
    highest = Math.max(highest, number);
  };
  return { first, second, readAt, highest: () => highest };
}

test.each(BASES)(
  'of two processes, whatever is read (%s) names no older block than either did before',
  async (basis) => {
    const { market } = world;
    let minedAt = performance.now();
    const readers = await Promise.all(Object.keys(READS).map((what) => openReader(what, basis, () => minedAt)));
    const ofAll = (run: (reader: (typeof readers)[number]) => Promise<void>) => Promise.all(readers.map(run));
    await ofAll(async ({ readAt }) => {
      for (const name of ['first', 'second', 'first', 'second'] as const) await readAt(name);
    });
    const mine = async () => {
      const block = market.builder.block().number - 1n;
      for (const { second } of readers) second.node.misbehave({ kind: 'behind', block });
      await updateAll(market, () => 200n);
      minedAt = performance.now();
      await market.builder.buildBlock();
      const endAll = () => {
        for (const { second } of readers) second.node.misbehave(null);
      };
      // biome-ignore lint/plugin: for so long nodes are behind.
      return { over: sleep(BEHIND_MS).then(endAll) };
    };
    for (let block = 0; block < BLOCKS; block += 1) {
      let isBehind = true;
      const { over } = await mine();
      void over.then(() => {
        isBehind = false;
      });
      await ofAll(async ({ readAt }) => {
        while (isBehind) {
          for (const name of ['first', 'second'] as const) await readAt(name);
          // biome-ignore lint/plugin: the pace of requests.
          await sleep(GAP_MS);
        }
      });
      await over;
    }
    for (const name of ['first', 'second'] as const) await ofAll((reader) => reader[name].api.stop());
  },
);

test('when the process that reads for both is killed, the other one names no older block, whatever is read', {
  timeout: 120_000,
}, async () => {
  const { market, config } = world;
  const { builder } = market;
  const prefix = randomUUID();
  const node = await startRpcProxy(market.chain.rpcUrl);
  onTestFinished(node.stop);
  const chain = { ...config, blockTimeMs: BLOCK_MS, rpcUrls: [node.url], wsUrls: undefined };
  const killed = await startApiProcess(market, chain, prefix);
  const { api, node: otherNode } = await open(prefix);
  const readers = BASES.flatMap((basis) => Object.keys(READS).map((what) => ({ what, basis, book: new Book() })));
  const seen: string[] = [];
  let [highest, minedAt] = [0, performance.now()];
  const readAt = async (name: string, served: Served): Promise<number> => {
    const before = { highest, minedAt, seen };
    const numbers = await Promise.all(
      readers.map(async ({ what, basis, book }) => {
        const number = (await READS[what]?.(served, basis, book)) ?? Number.NaN;
        seen.push(`${name} ${what} (${basis}) ${number}`);
        expectFollowed(number, before);
        return number;
      }),
    );
    highest = Math.max(highest, ...numbers);
    return Math.min(...numbers);
  };
  for (const _ of [1, 2]) {
    await readAt('killed', killed);
    await readAt('other', api);
  }
  otherNode.misbehave({ kind: 'behind', block: builder.block().number - 1n });
  const calls = () => node.requests.filter(({ method }) => method === 'eth_call').length;
  const callsBefore = calls();
  await updateAll(market, () => 201n);
  minedAt = performance.now();
  await builder.buildBlock();
  while (highest < Number(builder.block().number)) await readAt('killed', killed);
  expect(calls()).toBeGreaterThan(callsBefore);
  await killed.kill();
  await readAt('other', api);
  otherNode.misbehave(null);
  for (const _ of [1, 2]) {
    await expect.poll(() => readAt('other', api)).toBe(Number(builder.block().number));
    // The other one has taken over: it reads what comes now.
    minedAt = performance.now();
    await builder.buildBlock();
  }
  await expect.poll(() => readAt('other', api)).toBe(Number(builder.block().number));
  await api.stop();
});

/** When what a reader gets was made, nanoseconds, by what it reads: over a connection of its own. */
const MADE: Readonly<Record<string, (api: StreamApi) => Promise<string>>> = {
  levels: async ({ base }) => (await fetch(`${base}/price_levels?pools=${pools()}`)).text(),
  anyone: async ({ base }) => (await fetch(`${base}/price_levels`)).text(),
  frames: ({ base }) => firstText(`${base}/price_levels?pools=${pools()}`),
  anyoneFrames: ({ base }) => firstText(`${base}/ws/pamm_price_levels`),
  overrides: ({ base }) => firstText(`${base}/ws/pamm_quote_stream`),
  async call({ base }) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'titan_getPammStateOverrides' });
    return (await fetch(`${new URL(base).origin}/rpc/${world.config.chainId}`, { method: 'POST', body })).text();
  },
};

/** The clocks of two machines are wrong by this much: far more than frames and answers of Redis take. */
const HOUR_MS = 3_600_000;
/** What is shown is of the time of Redis, however busy the machine is. */
const MAX_AGE_MS = 60_000;

async function firstText(url: string): Promise<string> {
  const socket = new WebSocket(url.replace('http', 'ws'));
  const [text] = await once(socket, 'message');
  socket.terminate();
  return String(text);
}

test('of two processes whose clocks are 2 hours apart, nothing is of an earlier time or block than what either gave before', async () => {
  await updateAll(world.market, () => 200n);
  const prefix = randomUUID();
  const [ahead, behind] = [await open(prefix, HOUR_MS), await open(prefix, -HOUR_MS)];
  const seen: string[] = [];
  let [last, highest, minedAt] = [0n, 0, performance.now()];
  const readAt = async (name: 'ahead' | 'behind', what: string) => {
    const askedAt = Date.now();
    const { api } = { ahead, behind }[name];
    const text = await MADE[what]?.(api);
    const [, block, found] =
      /"blockNumber":"?(0x[0-9a-f]+|\d+).*?"timestamp":(\d+)/.exec(text ?? '') ?? expect.fail(`${what}: ${text}`);
    const [madeAt, number] = [BigInt(found ?? 0), Number(block)];
    seen.push(`${name} ${what} ${number} ${madeAt}`);
    expect(madeAt >= last, seen.join('\n')).toBe(true);
    expectFollowed(number, { highest, minedAt, seen });
    // Redis is on this machine.
    expect(Number(madeAt / 1_000_000n)).toBeGreaterThan(askedAt - MAX_AGE_MS);
    expect(Number(madeAt / 1_000_000n)).toBeLessThan(Date.now() + MAX_AGE_MS);
    [last, highest] = [madeAt, Math.max(highest, number)];
  };
  for (let round = 0; round < 4; round += 1) {
    for (const what of Object.keys(MADE)) for (const name of ['ahead', 'behind'] as const) await readAt(name, what);
    minedAt = performance.now();
    await world.market.builder.buildBlock();
  }
  await ahead.api.stop();
  for (const what of Object.keys(MADE)) await readAt('behind', what);
  await behind.api.stop();
});

test('a process whose nodes stay a block behind names no older block than others, however long that is', async () => {
  const { market } = world;
  const prefix = randomUUID();
  const [ahead, behind] = [await open(prefix), await open(prefix)];
  await updateAll(market, () => 200n);
  const numbersOf = async (api: StreamApi) =>
    Promise.all(
      ['levels', 'anyone', 'frames', 'anyoneFrames', 'overrides', 'call'].map(async (what) => {
        const text = await MADE[what]?.(api);
        return Number(/"blockNumber":"?(0x[0-9a-f]+|\d+)/.exec(text ?? '')?.[1] ?? expect.fail(`${what}: ${text}`));
      }),
    );
  await Promise.all([numbersOf(ahead.api), numbersOf(behind.api)]);
  behind.node.misbehave({ kind: 'behind', block: market.builder.block().number - 1n });
  await market.builder.buildBlock();
  const building = Number(market.builder.block().number);
  await expect.poll(async () => Math.min(...(await numbersOf(ahead.api)))).toBe(building);
  const since = performance.now();
  while (performance.now() - since < FOLLOW_MS + BLOCK_MS) {
    expect(new Set(await numbersOf(behind.api))).toEqual(new Set([building]));
    // biome-ignore lint/plugin: the pace of requests.
    await sleep(GAP_MS);
  }
  // Its frames are of the last block that its node gave: of the next one, if a request was on its way.
  const { parent } = DECODERS.builder((await MADE.levels?.(behind.api)) ?? '');
  expect([building - 2, building - 1]).toContain(Number(parent?.number));
  await Promise.all([ahead.api.stop(), behind.api.stop()]);
});

test('a head that does not exist, which one process takes, delays others by two seconds, once, and gives none its number', async () => {
  const { market } = world;
  const prefix = randomUUID();
  const [fooled, honest] = [await open(prefix), await open(prefix)];
  await Promise.all([READS.levels?.(fooled.api, 'committed', new Book()), MADE.overrides?.(honest.api)]);
  const word = () => `0x${randomUUID().replaceAll('-', '').repeat(2)}`;
  const { number } = await market.chain.client.getBlock();
  const fake = { hash: word(), parentHash: word(), timestamp: `0x${Math.floor(Date.now() / 1_000).toString(16)}` };
  const result = { ...fake, number: `0x${(number + 10n).toString(16)}` };
  fooled.node.misbehave({
    kind: 'rewritten',
    request: (request) => (request.method === 'eth_getBlockByNumber' ? { answer: { result } } : request),
    text: (text) => text,
  });
  const { heads } = honest.api.chain;
  const told = async () => {
    await fetch(`${fooled.api.base}/price_levels?pools=${pools()}`).then((response) => response.text());
    return heads.isBehind;
  };
  await expect.poll(told, { interval: 20 }).toBe(true);
  await READS.levels?.(honest.api, 'live', new Book());
  expect(heads.isBehind).toBe(false);
  for (let block = 0; block < 3; block += 1) {
    await market.builder.buildBlock();
    const building = Number(market.builder.block().number);
    const reads = async () => Math.min(...(await Promise.all(Object.keys(MADE).map(numberBy))));
    const numberBy = async (what: string) =>
      Number(/"blockNumber":"?(0x[0-9a-f]+|\d+)/.exec((await MADE[what]?.(honest.api)) ?? '')?.[1]);
    await expect.poll(reads).toBe(building);
    expect(heads.isBehind).toBe(false);
  }
  fooled.node.misbehave(null);
  const again = () => READS.levels?.(fooled.api, 'committed', new Book()).catch(() => 0);
  await expect.poll(again).toBe(Number(market.builder.block().number));
  await Promise.all([fooled.api.stop(), honest.api.stop()]);
});

test('the first frame after a reorganisation says so, also where another process sent the last one', async () => {
  const { client } = world.market.chain;
  const prefix = randomUUID();
  const [first, second] = [await open(prefix), await open(prefix)];
  const read = async ({ base }: StreamApi, isLast: (hash: string) => boolean) => {
    const frames = await connectTexts(`${base}/price_levels?pools=${pools()}`);
    const parents = () => frames.texts.flatMap(({ text }) => DECODERS.builder(text).parent ?? []);
    await expect.poll(() => isLast(parents().at(-1)?.hash ?? ''), { interval: 5 }).toBe(true);
    return parents();
  };
  const before = (await client.getBlock()).hash;
  let last = (await read(first.api, (hash) => hash === before)).at(-1);
  const reorganise = async () => {
    await client.request({ method: 'anvil_reorg', params: [2, []] } as never);
    await world.market.builder.followHead();
    return (await client.getBlock()).hash;
  };
  const expectReorganised = async (api: StreamApi, head: string) => {
    const parents = await read(api, (hash) => hash === head);
    const changed = parents.find(({ hash }) => hash !== last?.hash);
    expect(changed?.number, stringifyJson([last, ...parents])).toBeLessThanOrEqual(last?.number ?? 0n);
    last = parents.at(-1);
  };
  await expectReorganised(first.api, await reorganise());
  await first.api.stop();
  await expectReorganised(second.api, await reorganise());
  await second.api.stop();
});
