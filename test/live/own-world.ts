import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import pg from 'pg';
import type { Hex } from 'viem';
import { inject } from 'vitest';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { PammConfig } from '../../config/pamm-schema.ts';
import { issueApiKey } from '../../db/api-keys.ts';
import type { LiveMarketOptions } from '../../devnet/live/live-market.fixture.ts';
import type { QuoteUpdate } from '../../devnet/live/maker.ts';
import { type RpcProxy, startRpcProxy } from '../../devnet/rpc-proxy.ts';
import { ownUpdatesChannel } from '../../quoting/live/own-update.ts';
import { createMigratedDatabase } from '../harness/database.ts';
import { createRedisDatabase } from '../harness/redis.ts';
import { eventually } from '../pamm/eventually.ts';
import { newUuid } from '../pamm/sample-updates.ts';
import { fixedDirectory } from '../quotes/served-pool.ts';
import { type StreamApi, startStreamApi } from '../stream/stream-api.ts';
import { type Batch, type LiveWorld, startLiveWorld } from './live-world.ts';
import { startUpdatesApi } from './updates-api.ts';

/** What a maker sends besides its transaction. */
export interface Sent {
  readonly key: string;
  readonly uuid: Hex;
  readonly seq: number;
  readonly tx: string;
  readonly blockNumber: number;
  /** Default: the chain of the market. */
  readonly chainId?: number;
}

/** A chain that takes quote updates and has no source of live prices. */
export const PLAIN_CHAIN = 31_338;

/**
 * A live market whose one source is `own`, the API that takes quote updates, and an API of quotes,
 * behind a proxy of the node.
 */
export interface OwnWorld {
  readonly market: LiveWorld['market'];
  readonly served: LiveWorld['served'];
  readonly config: ChainConfig;
  readonly proxy: RpcProxy;
  readonly quotes: StreamApi;
  readonly prefix: string;
  readonly redisUrl: string;
  /** Issues a key in Postgres. */
  issue(publishesQuotes: boolean): Promise<string>;
  /** Posts an update; gives the response's status and text. */
  send(sent: Sent): Promise<{ readonly status: number; readonly text: string }>;
  /** Sends an update of a maker for its block, by default as the first one of a new uuid. */
  sendUpdate(key: string, update: Pick<QuoteUpdate, 'transaction' | 'block'>, change?: Partial<Sent>): Promise<Sent>;
  batch(of?: StreamApi): Promise<Batch>;
  /** A further API of quotes, which shares the source. */
  openQuotes(): Promise<StreamApi>;
  /** Stops the first one. */
  stopQuotes(): Promise<void>;
  /** How many processes read the source. */
  readers(): Promise<unknown>;
  /** Of Redis, as whom the API takes quote updates. */
  readonly pammUser: string;
  /** A connection to Redis that may do everything. */
  readonly admin: Redis;
  stop(): Promise<void>;
}

/** @param prepare changes the node before the APIs start */
export async function startOwnWorld(
  options: LiveMarketOptions,
  prepare: (proxy: RpcProxy) => void = () => undefined,
): Promise<OwnWorld> {
  // What is open ends, the last one first, also where something after it does not start.
  await using opened = new AsyncDisposableStack();
  const world = await startLiveWorld(options, () => ({ sources: [{ kind: 'own' }] }));
  const { market, served } = world;
  opened.defer(() => market.close());
  await world.api.stop(); // It shares no source.
  const proxy = opened.adopt(await startRpcProxy(market.chain.rpcUrl), (it) => it.stop());
  const database = opened.adopt(await createMigratedDatabase(), (it) => it.drop());
  prepare(proxy);
  const pool = opened.adopt(new pg.Pool({ connectionString: database.url }), (it) => it.end());
  pool.on('error', () => undefined);
  const prefix = `t${randomBytes(6).toString('hex')}`;
  const redis = opened.adopt(await createRedisDatabase(prefix), (it) => it.drop());
  // Nothing takes the updates from the queue: a source does not wait for builders.
  const builders = [{ id: 'titan', transport: 'quote-stream', url: 'ws://127.0.0.1:1' }];
  const pammConfig = PammConfig.parse({ kind: 'ethereum', builders });
  const config: ChainConfig = { ...world.config, rpcUrls: [proxy.url], pamm: pammConfig };
  const openQuotes = () =>
    startStreamApi({ chain: config, directory: fixedDirectory(served), sharedBy: { redisUrl: redis.url, prefix } });
  const quotes = await openQuotes();
  let stopped: Promise<void> | undefined;
  const stopQuotes = () => {
    stopped ??= quotes.stop();
    return stopped;
  };
  opened.defer(stopQuotes);
  const admin = opened.adopt(new Redis(inject('redisUrl')), (it) => it.disconnect());
  const readers = async () => (await admin.pubsub('NUMSUB', ownUpdatesChannel(prefix, config.chainId)))[1];
  await eventually(async () => (await readers()) === 1);
  const chains = [config, { ...config, chainId: PLAIN_CHAIN, live: undefined }];
  const updates = await startUpdatesApi(opened, { chains, database: pool, redisUrl: redis.url, prefix, admin });
  const ends = opened.move();
  return {
    market,
    served,
    config,
    proxy,
    quotes,
    prefix,
    redisUrl: redis.url,
    ...requestsOf({ url: updates.url, config, market, database: pool, quotes }),
    openQuotes,
    stopQuotes,
    readers,
    pammUser: updates.user,
    admin,
    stop: () => ends.disposeAsync(),
  };
}

type Requests = Pick<OwnWorld, 'issue' | 'send' | 'sendUpdate' | 'batch'>;

/** @param url of the API that takes quote updates */
function requestsOf({
  url,
  config,
  market,
  database,
  quotes,
}: Pick<OwnWorld, 'config' | 'market' | 'quotes'> & { readonly url: string; readonly database: pg.Pool }): Requests {
  const poolAddresses = market.pools.map(({ address }) => address);
  const post = (to: string, body: object, headers: Readonly<Record<string, string>> = {}) =>
    fetch(to, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const send: OwnWorld['send'] = async ({ key, uuid, seq, tx, blockNumber, chainId = config.chainId }) => {
    // No builder answers, so each waits this long; a busy machine has more time to queue it.
    const wait = { responseTimeoutMs: 50 };
    const body = { tx, blockNumber, replacementUuid: uuid, replacementSeqNumber: seq, poolAddresses, ...wait };
    const path = `/public/v1/evm/${chainId}/pamm-quote`;
    const response = await post(url + path, body, { Authorization: `Bearer ${key}` });
    return { status: response.status, text: await response.text() };
  };
  return {
    issue: async (publishesQuotes) => (await issueApiKey(database, 'maker', { publishesQuotes })).key,
    send,
    async sendUpdate(key, { transaction, block }, change) {
      const sent = { key, uuid: newUuid(), seq: 1, tx: transaction, blockNumber: Number(block.number), ...change };
      const { status, text } = await send(sent);
      if (status !== 200) throw new Error(`the update was answered with ${status}: ${text}`);
      return sent;
    },
    batch: async (of = quotes) =>
      (await (
        await post(`${of.base}/bid_ask/batch`, { pools: poolAddresses, include: 'stateOverride' })
      ).json()) as Batch,
  };
}

/** The words that quotes of a batch used, of one account by slot. */
export const usedWords = ({ overrides }: Batch, account: string): Readonly<Record<string, string>> =>
  (overrides?.stateOverride as Record<string, { stateDiff: Record<string, string> }> | undefined)?.[account]
    ?.stateDiff ?? {};

/** `live` or `committed` of each quote, or the error instead of it. */
export const kindsOf = ({ results }: Batch): readonly (string | undefined)[] =>
  results.map((result) => ('quote' in result ? result.quote.basis?.kind : result.error.error));
