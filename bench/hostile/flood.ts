import { randomBytes, randomInt } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, bytesToHex } from 'viem';
import { runMain } from '../../runtime/run-main.ts';
import { answerOrders } from '../order-process.ts';
import { type LoadRequest, timeRequest } from './load.ts';

/** Clients without a key that send uncached requests, each as fast as the default quota of the listing allows. */
const ANONYMOUS = 10;
const REQUESTS_PER_SECOND = ANONYMOUS * 20;
const TICK_MS = 10;
const MAX_OPEN = 100;
const ADDRESSES = 100;
const DEEPEST = 50_000;
const agent = new Agent({ keepAlive: true, maxSockets: MAX_OPEN });

export interface FloodResult {
  /** Answers a second. */
  readonly rate: number;
  /** Answers of an API that does not work: 500 and the like. A page that takes too long may be 503. */
  readonly broken: number;
}

/** Asks for so long, at its pace whether answers come or not, as long as no more than `MAX_OPEN` are waited for. */
export interface FloodOrder {
  readonly url: string;
  readonly chainIds: readonly number[];
  readonly seconds: number;
}

/** A separate process: it stands for other machines. */
runMain(async () => answerOrders(flood));

async function flood({ url, chainIds, seconds }: FloodOrder): Promise<FloodResult> {
  const startedAt = performance.now();
  const secondsSince = () => (performance.now() - startedAt) / 1_000;
  const open = new Set<Promise<void>>();
  let [sent, broken] = [0, 0];
  const send = () => {
    const answer = statusOf(url, floodRequest(sent++, chainIds)).then((status) => {
      if (status === null || !EXPECTED.has(status)) broken += 1;
      open.delete(answer);
    });
    open.add(answer);
  };
  while (secondsSince() < seconds) {
    const due = secondsSince() * REQUESTS_PER_SECOND;
    while (sent < due && open.size < MAX_OPEN) send();
    await sleep(TICK_MS);
  }
  const rate = (sent - open.size) / secondsSince();
  await Promise.all(open);
  return { rate, broken };
}

/** @returns null when the connection broke */
async function statusOf(url: string, request: LoadRequest): Promise<number | null> {
  try {
    return (await timeRequest(url, request, agent)).status;
  } catch {
    return null;
  }
}

const EXPECTED = new Set([200, 401, 404, 429, 503]);

/** Alternately: unknown addresses, unknown keys, deep offsets, rare filters and searches, unknown pools. */
function floodRequest(number: number, chainIds: readonly number[]): LoadRequest {
  const base = `/public/v1/evm/${chainIds[number % chainIds.length]}`;
  const from = { 'X-Forwarded-For': `198.51.100.${number % ANONYMOUS}` };
  const kinds: readonly (() => LoadRequest)[] = [
    () => ({ path: `${base}/metadata?addresses=${Array.from({ length: ADDRESSES }, unknownAddress).join()}` }),
    () => ({ path: `${base}/metadata`, headers: { Authorization: `Bearer ${unknownKey()}` } }),
    () => ({ path: `${base}/metadata?minTvlFiat=0&sortBy=created&offset=${randomInt(DEEPEST)}` }),
    () => ({ path: `${base}/metadata?minTvlFiat=${Math.random()}&sortBy=apr&tier=red&lockedPricingOnly=true` }),
    () => ({ path: `${base}/metadata?minTvlFiat=0&search=${randomBytes(2).toString('hex')}` }),
    () => ({ path: `${base}/${unknownAddress()}/bid_ask` }),
  ];
  const made = kinds[number % kinds.length]?.() ?? { path: base };
  return { ...made, headers: { ...from, ...made.headers } };
}

const unknownAddress = (): Address => bytesToHex(randomBytes(20));
const unknownKey = () => `ptd_${randomBytes(4).toString('hex')}_${randomBytes(32).toString('base64url')}`;
