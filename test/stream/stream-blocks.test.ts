import { setTimeout as sleep } from 'node:timers/promises';
import type { Hex } from 'viem';
import { expect, test } from 'vitest';
import type { ProxiedRequest } from '../../devnet/misbehaviour.ts';
import { startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { sendRequest } from '../../runtime/http-request.ts';
import { openWorld, startedWorld } from '../harness/open-world.ts';
import { createRedisDatabase } from '../harness/redis.ts';
import { chainConfig } from '../quotes/quote-world.ts';
import { fixedDirectory } from '../quotes/served-pool.ts';
import { Follower } from './follower.ts';
import { startMovingChain } from './moving-chain.ts';
import { startStreamApi } from './stream-api.ts';
import { connectSse, connectWebSocket } from './stream-connection.ts';
import { comparable } from './truth.ts';

const FOLLOWERS = 10;
const ASKERS = 10;
const BLOCK_PAUSE_MS = 100;
const TIMEOUT_MS = 60_000;
/** Of messages that end a block. */
const [HONEST, LYING] = [600, 300];
const PREFIX = 'pamm';

/** A quote that a client got for one of a block. */
interface Claim {
  readonly hash: Hex;
  readonly pool: string;
  readonly text: string;
}

const chain = startedWorld(startMovingChain);
const redis = startedWorld(() => createRedisDatabase(PREFIX));
const world = openWorld(async (ends) => {
  const proxy = async () => ends.adopt(await startRpcProxy(chain.url, false), (node) => node.stop());
  /** Two nodes: what the first one does not answer the second one is asked. */
  const nodes = [await proxy(), await proxy()] as const;
  const options = {
    chain: chainConfig(
      31_337,
      nodes.map(({ url }) => url),
      { blockTimeMs: BLOCK_PAUSE_MS },
    ),
    directory: fixedDirectory(chain.pools),
    sharedBy: { redisUrl: redis.url, prefix: PREFIX },
  };
  const start = async () => ends.adopt(await startStreamApi(options), (api) => api.stop());
  /** Two processes that read each block once. */
  return { nodes, apis: [await start(), await start()] };
});
/** Numbers of blocks by their hashes. */
const heights = new Map<Hex, bigint>();

/** No call is at a node meanwhile: see `RpcProxy.quietly`. */
const mine = () =>
  world.nodes[0].quietly(() =>
    world.nodes[1].quietly(async () => {
      const { hash, number } = await chain.mine();
      heights.set(hash, number);
    }),
  );

/** Mines while clients follow streams and ask for quotes, until they got this many messages that end a block. */
async function load(messages: number): Promise<readonly Claim[]> {
  const names = chain.pools.map(({ address }) => address);
  const followers = Array.from({ length: FOLLOWERS }, (_, index) => {
    const url = new URL(world.apis[index % world.apis.length]?.base ?? '').origin;
    const connect = index % 4 < 2 ? connectSse : connectWebSocket;
    return new Follower({ connect, url, chainId: 31_337, depth: true, pools: names });
  });
  const end = new AbortController();
  const answered: Claim[] = [];
  const askers = Array.from({ length: ASKERS }, async (_, index) => {
    for (let turn = index; !end.signal.aborted; turn++) {
      const [api, pool] = [world.apis[turn % world.apis.length], names[turn % names.length] ?? ''];
      const asked = { timeoutMs: TIMEOUT_MS };
      const { status, headers, text } = await sendRequest(`${api?.base}/${pool}/bid_ask?depth=true`, asked);
      const hash = headers['x-block-hash'] as Hex;
      if (status === 200) answered.push({ hash, pool, text: comparable(JSON.parse(text), true) });
      // biome-ignore lint/plugin: the pace of requests.
      await sleep(10);
    }
  });
  while (followers.reduce((sum, { claims }) => sum + claims.length, 0) < messages) {
    await mine();
    // biome-ignore lint/plugin: the pace of blocks.
    await sleep(BLOCK_PAUSE_MS);
  }
  for (const follower of followers) follower.stop();
  end.abort();
  // Calls that wait for the next block get it.
  for (const node of world.nodes) node.misbehave(null);
  await mine();
  await Promise.all(askers);
  expect(followers.flatMap(({ faults }) => faults)).toEqual([]);
  const held = followers.flatMap(({ claims }) =>
    claims.flatMap(({ hash, quotes }) =>
      quotes.map(([pool, quote]) => ({ hash: hash as Hex, pool, text: comparable(quote, true) })),
    ),
  );
  return [...held, ...answered];
}

/**
 * What clients got and the chain, asked again, does not say of the block;
 * and how many states each pool had in these blocks.
 */
async function compare(claims: readonly Claim[]) {
  const hashes = [...new Set(claims.map(({ hash }) => hash))];
  const truth = new Map<Hex, ReadonlyMap<string, string>>();
  for (const hash of hashes) truth.set(hash, await chain.quotesAt(hash));
  const wrong = claims.filter(({ hash, pool, text }) => truth.get(hash)?.get(pool) !== text);
  const states = chain.pools.map(({ address }) => new Set(truth.values().map((quotes) => quotes.get(address))).size);
  return { wrong, blocks: hashes.length, states };
}

const isCall = ({ method, params }: ProxiedRequest, pool: string) =>
  method === 'eth_call' && JSON.stringify(params[0]).includes(pool.slice(2));

test('quotes are those of their block, whichever node and process read them, while nodes answer by the block', async () => {
  let calls = 0;
  // Every fifth call goes to the other node.
  world.nodes[0].misbehave({ kind: 'down' }, ({ method }) => method === 'eth_call' && ++calls % 5 === 0);
  const claims = await load(HONEST);
  const { wrong, blocks, states } = await compare(claims);
  expect(wrong).toEqual([]);
  expect(states.slice(0, 2)).toEqual([blocks, blocks]);
});

test('where a node answers calls with the state of the next block, quotes of those blocks alone are wrong', async () => {
  const lied = new Set<Hex>();
  const [{ address }] = chain.pools;
  const isLie = (request: ProxiedRequest): boolean => {
    const { blockHash } = (request.params[1] ?? {}) as { readonly blockHash?: Hex };
    const height = blockHash && heights.get(blockHash);
    // Of every third block one of the two calls that the pool is read by: its storage, or its prices and balances.
    if (!blockHash || !height || height % 3n !== 0n || !isCall(request, address)) return false;
    if ('to' in (request.params[0] as object) !== (height % 2n === 0n)) return false;
    lied.add(blockHash);
    return true;
  };
  for (const node of world.nodes) node.misbehave({ kind: 'ahead' }, isLie);
  const claims = await load(LYING);
  const { wrong } = await compare(claims);
  const expected = claims.filter(({ hash, pool }) => lied.has(hash) && pool === address).map(({ hash }) => hash);
  // Pools that share a call with that one are wrong with it.
  expect(wrong.filter(({ hash }) => !lied.has(hash))).toEqual([]);
  const hashes = new Set(wrong.map(({ hash }) => hash));
  expect(expected.filter((hash) => !hashes.has(hash))).toEqual([]);
  expect(expected.length).toBeGreaterThan(0);
});
