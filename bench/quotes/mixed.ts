import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { startPostgres } from '../../local/services/postgres.ts';
import { startRedis } from '../../local/services/redis.ts';
import { createTempFolder } from '../../local/services/temp-folder.ts';
import { stillQuotes } from '../../test/quotes/quote-world.ts';
import { fillIndex } from '../hostile/seed.ts';
import { chainsFile } from '../hostile/served-process.ts';
import { Samples } from '../route/measure.ts';
import { type ApiSetup, type ServedApi, serveApi, serveProcess } from '../serve-api.ts';
import { type StreamChain, startStreamChain } from '../stream/market.ts';
import { startQuoteServer } from './start-server.ts';

const CHAIN_ID = 31_337;
const CONNECTIONS = 50;
const ROUNDS = 5;
const QUOTES = 8;
/** Until the code of a process is compiled. */
const WARM_UP_REQUESTS = 60_000;
const PAGE = `/public/v1/evm/metadata?chainId=${CHAIN_ID}&count=50`;
const LISTING_LIMIT_MS = 120_000;

type Request = { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: string };

/**
 * The service as it is run, beside a bare Hono route that sends the same bytes: the slowest hundredth of a mix of quotes,
 * a page and a batch.
 */
export async function measureMixed(seconds: number): Promise<void> {
  const [postgres, redis, folder, chain] = await Promise.all([
    startPostgres(),
    startRedis(),
    createTempFolder('mixed'),
    startStreamChain(CHAIN_ID),
  ]);
  const { bare, stop: stopBare } = await startQuoteServer(chain.node.url, chain.world.deployment, []);
  try {
    await fillIndex(postgres.url, [chain]);
    const setup = { folder, databaseUrl: postgres.url, redisUrl: redis.url, chainsFile: chainsFileOf(chain) };
    const mix = requestsOf(chain);
    const one = await serveApi(setup);
    await fillListing(setup, one);
    await copyAnswers(one.url, bare, mix);
    const services = [bare, one.url].map((url) => ({ url, p99: new Samples() }));
    for (const { url } of services) await run(url, mix, { amount: WARM_UP_REQUESTS });
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { url, p99 } of services) p99.add(await run(url, mix, { duration: seconds / ROUNDS }));
    }
    await one.stop();
    const [bareP99 = 0, ownP99 = 0] = services.map(({ p99 }) => p99.quantile(0.5));
    print(
      `mix of 8 quotes, a page of 50 and a batch of 100, p99: ${ownP99} ms beside ${bareP99} ms = ${(ownP99 / bareP99).toFixed(2)} (target <= 3)`,
    );
  } finally {
    await stopBare();
    await chain.stop();
    await Promise.all([postgres.stop(), redis.stop(), folder.remove()]);
  }
}

const print = (line: string) => process.stdout.write(`${line}\n`);

function chainsFileOf(chain: StreamChain): ReturnType<typeof chainsFile> {
  return { ...chainsFile([chain], ({ node }) => node.url), quotes: { ...stillQuotes, warmSecs: 30 } };
}

function requestsOf({ pools }: StreamChain): readonly Request[] {
  const all = pools.flat();
  const quotes = all.slice(0, QUOTES).map((pool, index): Request => {
    const depth = index % 4 === 0 ? '' : '?depth=false';
    return { method: 'GET', path: `/public/v1/evm/${CHAIN_ID}/${pool}/bid_ask${depth}` };
  });
  const batch = JSON.stringify({ pools: all.slice(0, 100), depth: false });
  return [
    ...quotes,
    { method: 'GET', path: PAGE },
    { method: 'POST', path: `/public/v1/evm/${CHAIN_ID}/bid_ask/batch`, body: batch },
  ];
}

/** Lets capture fill the listing, until the API shows a whole page of it. */
async function fillListing(setup: ApiSetup, { url }: ServedApi): Promise<void> {
  const capture = await serveProcess('capture', setup);
  const isFull = async () => {
    const response = await fetch(`${url}${PAGE}`);
    return response.ok && ((await response.json()) as { data: unknown[] }).data.length === 50;
  };
  try {
    for (const deadline = Date.now() + LISTING_LIMIT_MS; !(await isFull()); await sleep(500)) {
      if (Date.now() > deadline) throw new Error('capture lists nothing');
    }
  } finally {
    await capture.stop();
  }
}

async function copyAnswers(from: string, bare: string, mix: readonly Request[]): Promise<void> {
  for (const { method, path, body } of mix) {
    const response = await fetch(`${from}${path}`, { method, ...(body !== undefined && { body }) });
    if (!response.ok) throw new Error(`${path}: ${response.status}`);
    await fetch(`${bare}${path.split('?')[0]}`, { method: 'PUT', body: await response.text() });
  }
}

/** @returns the slowest hundredth; ms */
async function run(
  url: string,
  mix: readonly Request[],
  length: { readonly amount: number } | { readonly duration: number },
): Promise<number> {
  const headers = { 'Content-Type': 'application/json' };
  const requests = mix.map((each) => ({ ...each, headers }));
  const { latency, non2xx, errors } = await autocannon({ url, connections: CONNECTIONS, ...length, requests });
  if (non2xx > 0 || errors > 0) throw new Error(`${url}: ${non2xx} not 200, ${errors} errors`);
  return latency.p99;
}
