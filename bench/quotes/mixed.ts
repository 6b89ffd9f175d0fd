import autocannon from 'autocannon';
import { Samples } from '../../test/harness/samples.ts';
import type { StreamChain } from '../../test/many-pools/stream-chain.ts';
import { eventually } from '../../test/pamm/eventually.ts';
import { print } from '../print.ts';
import { type StreamWorld, startStreamWorld } from '../stream/world.ts';
import type { Verdicts } from '../verdicts.ts';
import { serveQuotes } from './serve-quotes.ts';

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
 * The service as it is run, beside a bare Hono route that sends the same bytes:
 * the slowest hundredth of a mix of quotes, a page and a batch.
 */
export async function measureMixed(seconds: number, verdicts: Verdicts<'quotes'>): Promise<void> {
  await using ends = new AsyncDisposableStack();
  const world = await startStreamWorld([CHAIN_ID]);
  const [chain] = world.chains;
  ends.defer(chain.stop);
  const server = await serveQuotes({ rpcUrl: chain.node.url, deployment: chain.world.deployment, pools: [] });
  ends.defer(server.stop);
  const mix = requestsOf(chain);
  const one = await world.serve(30);
  ends.defer(one.stop);
  await fillListing(world, one.url);
  await copyAnswers(one.url, server.bare, mix);
  const services = [server.bare, one.url].map((url) => ({ url, p99: new Samples() }));
  for (const { url } of services) await run(url, mix, { amount: WARM_UP_REQUESTS });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const { url, p99 } of services) p99.add(await run(url, mix, { duration: seconds / ROUNDS }));
  }
  const [bareP99 = 0, ownP99 = 0] = services.map(({ p99 }) => p99.median);
  const ratio = ownP99 / bareP99;
  print(
    `mix of 8 quotes, a page of 50 and a batch of 100, p99: ${ownP99} ms beside ${bareP99} ms = ${ratio.toFixed(2)} (${verdicts.line('mix/bare, p99', ratio)})`,
  );
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
async function fillListing({ serve }: StreamWorld, url: string): Promise<void> {
  const capture = await serve(undefined, 'capture');
  const isFull = async () => {
    const response = await fetch(`${url}${PAGE}`);
    return response.ok && ((await response.json()) as { data: unknown[] }).data.length === 50;
  };
  await eventually(isFull, LISTING_LIMIT_MS);
  await capture.stop();
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
