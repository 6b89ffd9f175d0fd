import { setTimeout as sleep } from 'node:timers/promises';
import autocannon from 'autocannon';
import { startPostgres } from '../../devnet/services/postgres.ts';
import { startRedis } from '../../devnet/services/redis.ts';
import { createTempFolder } from '../../devnet/services/temp-folder.ts';
import { stillQuotes } from '../../test/quotes/quote-world.ts';
import { serverCpuMs } from '../hostile/cpu-time.ts';
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
/** Of one process, until its code is compiled. */
const WARM_UP_REQUESTS = 60_000;
const PAGE = `/public/v1/evm/metadata?chainId=${CHAIN_ID}&count=50`;
const LISTING_LIMIT_MS = 120_000;

type Request = { readonly method: 'GET' | 'POST'; readonly path: string; readonly body?: string };

/**
 * The service as it is run, beside a bare Hono route that sends the same bytes: the slowest hundredth of a mix of quotes,
 * a page and a batch, and the CPU time of a request in two processes beside that in one.
 */
export async function measureMixed(seconds: number): Promise<void> {
  const [postgres, redis, folder, chain] = await Promise.all([
    startPostgres(),
    startRedis(),
    createTempFolder('mixed'),
    startStreamChain(CHAIN_ID),
  ]);
  const { bare, process: bareProcess } = await startQuoteServer(chain.node.url, chain.world.deployment, []);
  try {
    await fillIndex(postgres.url, [chain]);
    const setup = { folder, databaseUrl: postgres.url, redisUrl: redis.url, chainsFile: chainsFileOf(chain) };
    const mix = requestsOf(chain);
    const one = await serveApi(setup);
    await fillListing(setup, one);
    await copyAnswers(one.url, bare, mix);
    const two = await serveApi({ ...setup, env: { API_PROCESSES: '2' } });
    const served = [
      { url: bare, processes: 1 },
      { ...one, processes: 1 },
      { ...two, processes: 2 },
    ];
    const services = served.map((each) => ({
      pid: undefined,
      ...each,
      p99: new Samples(),
      cpu: [new Samples(), new Samples()],
    }));
    for (const { url, processes } of services) await run(url, mix, { amount: processes * WARM_UP_REQUESTS });
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const { url, pid, p99, cpu } of services) {
        for (const [n, requests] of [mix, mix.slice(0, QUOTES)].entries()) {
          const before = pid === undefined ? 0 : serverCpuMs(pid);
          const made = await run(url, requests, { duration: seconds / ROUNDS });
          if (n === 0) p99.add(made.p99);
          if (pid !== undefined) cpu[n]?.add((1_000 * (serverCpuMs(pid) - before)) / made.requests);
        }
      }
    }
    await Promise.all([one.stop(), two.stop()]);
    const [bareP99 = 0, ownP99 = 0] = services.map(({ p99 }) => p99.quantile(0.5));
    print(
      `mix of 8 quotes, a page of 50 and a batch of 100, p99: ${ownP99} ms beside ${bareP99} ms = ${ratio(ownP99, bareP99)} (target <= 3)`,
    );
    for (const [n, name] of ['the mix', 'its quotes'].entries()) {
      const [, inOne = 0, inTwo = 0] = services.map(({ cpu }) => cpu[n]?.quantile(0.5));
      print(
        `CPU time of a request of ${name}, two processes beside one: ${inTwo.toFixed(0)} us beside ${inOne.toFixed(0)} us = ${ratio(inTwo, inOne)} (target <= 1.1)`,
      );
    }
  } finally {
    bareProcess.kill('SIGTERM');
    await chain.stop();
    await Promise.all([postgres.stop(), redis.stop(), folder.remove()]);
  }
}

const print = (line: string) => process.stdout.write(`${line}\n`);
const ratio = (one: number, other: number) => (one / other).toFixed(2);

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

async function run(
  url: string,
  mix: readonly Request[],
  length: { readonly amount: number } | { readonly duration: number },
): Promise<{ p99: number; requests: number }> {
  const headers = { 'Content-Type': 'application/json' };
  const requests = mix.map((each) => ({ ...each, headers }));
  const {
    latency,
    requests: made,
    non2xx,
    errors,
  } = await autocannon({
    url,
    connections: CONNECTIONS,
    ...length,
    requests,
  });
  if (non2xx > 0 || errors > 0) throw new Error(`${url}: ${non2xx} not 200, ${errors} errors`);
  return { p99: latency.p99, requests: made.total };
}
