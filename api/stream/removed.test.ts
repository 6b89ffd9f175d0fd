import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ChainConfig } from '../../config/chains-schema.ts';
import { type Database, openDatabase } from '../../db/connection.ts';
import { PoolCatalog } from '../../quoting/pools/pool-catalog.ts';
import { createLogger } from '../../runtime/logger.ts';
import { createIndexedDatabase } from '../../test/harness/indexed-database.ts';
import { ONCHAIN_SCHEMA } from '../../test/harness/onchain-tables.ts';
import { startedWorld } from '../../test/harness/open-world.ts';
import { FACTORY, openSeeder, seedPools, seedToken, TOKEN0, TOKEN1 } from '../../test/harness/seed-pools.ts';
import { SimulatedChain } from '../../test/stream/simulated-chain.ts';
import { followQuotes } from '../latest/chain-quotes.ts';
import type { ChainStream } from './chain-stream.ts';
import { STREAM_MESSAGES } from './message-schema.ts';
import { type Streams, startStreams } from './streams.ts';
import type { StreamEventName, StreamTransport } from './types.ts';

const CHAIN = 7;
const POOLS = 3;
const RICH = { callsPerMinute: 100_000 };
const WAIT = { interval: 10 };
const logger = createLogger('test', 'silent');

const simulated = new SimulatedChain(POOLS);
const [delisted, undone, kept] = simulated.pools.map(({ address }) => address);
const home = startedWorld(createIndexedDatabase);
let database: Database;
let directory: PoolCatalog;
let streams: Streams;

/** The streams of an API process over Postgres, of a chain whose quotes are made up. */
beforeAll(async () => {
  const seeder = openSeeder(home.url);
  for (const address of [TOKEN0, TOKEN1]) await seedToken(seeder.db, { chainId: CHAIN, address });
  await seedPools(
    seeder.db,
    simulated.pools.map(({ address }) => ({ pool: { chainId: CHAIN, address } })),
  );
  await seeder.end();
  database = openDatabase(home.url, 'ptd_api', logger);
  const deployments = [{ contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory: FACTORY }];
  const chain = { chainId: CHAIN, name: 'seven', rpcUrls: ['http://127.0.0.1:1'], blockTimeMs: 1_000, deployments };
  directory = new PoolCatalog({
    database,
    chains: [ChainConfig.parse(chain)],
    logger,
    pollMs: 20,
    now: () => performance.now(),
  });
  const ofChain = simulated.startProcess(RICH, directory);
  const latest = followQuotes(new Map([[CHAIN, { chainId: CHAIN, ...ofChain }]]), directory);
  streams = startStreams({ latest, metrics: new Registry(), sockets: { countTermination: () => undefined } });
});

afterAll(async () => {
  streams.stop();
  directory.stop();
  await database.$client.end();
});

/** A client that takes whatever comes. */
function listen() {
  const received: { readonly event: StreamEventName; readonly data: unknown }[] = [];
  const transport: StreamTransport = {
    send: (event, _id, data) => received.push({ event, data: STREAM_MESSAGES[event].parse(JSON.parse(data)) }),
    unsentBytes: 0,
    onDrain: () => undefined,
    end: () => undefined,
    terminate: () => undefined,
  };
  const removed = () =>
    received.flatMap(({ event, data }) => (event === 'removed' ? STREAM_MESSAGES.removed.parse(data).pools : []));
  return { received, transport, removed };
}

test('subscribers learn that a pool was delisted, and that one that left the index is not served', async () => {
  const { received, transport, removed } = listen();
  const stream = streams.chains.get(CHAIN)?.committed as ChainStream;
  await stream.ready();
  const subscriber = stream.open(transport, false);
  subscriber.subscribe({ pools: simulated.pools.map(({ address }) => address), depth: false });
  await vi.waitUntil(
    () => received.some(({ event, data }) => event === 'snapshot' && (data as { last: boolean }).last),
    WAIT,
  );
  await home.client.query('INSERT INTO operator.delisted_pool (chain_id, pool) VALUES ($1, $2)', [CHAIN, delisted]);
  await vi.waitUntil(() => removed().length === 1, WAIT);
  await home.client.query(`DELETE FROM ${ONCHAIN_SCHEMA}.pool WHERE chain_id = $1 AND address = $2`, [CHAIN, undone]);
  await vi.waitUntil(() => removed().length === 2, WAIT);
  expect(removed()).toEqual([
    { poolAddress: delisted, reason: 'delisted' },
    { poolAddress: undone, reason: 'not_served' },
  ]);
  expect((await directory.table()).find(CHAIN, kept ?? '0x')).toBeDefined();
  subscriber.disconnected();
});
