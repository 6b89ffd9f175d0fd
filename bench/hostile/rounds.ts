import { setTimeout as sleep } from 'node:timers/promises';
import { AskedProcess } from '../asked-process.ts';
import type { HostileChain } from './chain.ts';
import type { FloodOrder, FloodResult } from './flood.ts';
import { type LoadRequest, LoadResult } from './load.ts';
import type { LoadOrder, LoadWindow } from './load-clients.ts';
import { longestStall } from './measurements.ts';
import { pageRequests, quoteRequests, routeRequests } from './requests.ts';

/** What is asked in one window of each round, and what it took over all rounds. */
interface Window {
  readonly requests: readonly LoadRequest[];
  readonly clients: number;
  readonly seconds: number;
  readonly result: LoadResult;
}

/** Many ask for quotes. Two would time single bursts of whatever else runs on two cores: garbage of a millisecond is their p99. */
const QUOTE_CLIENTS = 16;
const OTHER_CLIENTS = 2;

/** Untimed requests of each kind before the first round fill caches and let V8 compile. */
const WARM_UP_SECS = 2;
/** The flood starts this long before the window that is timed under it. */
const FLOOD_AHEAD_SECS = 1;

/**
 * Times quotes, pages and routes, and quotes during a flood of uncached requests. Each round has a short window of each, so
 * that bursts of the other processes affect all of them alike.
 */
export async function measureRounds(url: string, chains: readonly HostileChain[], rounds: number) {
  const [plain, guarded] = chains as readonly [HostileChain, HostileChain];
  const quotes = windowOf(quoteRequests(chains), 3, QUOTE_CLIENTS);
  const pages = windowOf(pageRequests(chains), 3);
  const routes = windowOf(routeRequests(plain), 1);
  const guardedRoutes = windowOf(routeRequests(guarded), 1);
  const floodedQuotes = windowOf(quotes.requests, 3, QUOTE_CLIENTS);
  const calm = [quotes, pages, routes, guardedRoutes];
  const [stalls, floodStalls, floods]: [number[], number[], FloodResult[]] = [[], [], []];
  const clients = new AskedProcess<LoadOrder>(new URL('./load-clients.ts', import.meta.url));
  const time = async ({ result, ...window }: Window) => {
    const { durations, refused } = await clients.ask<LoadWindow>({ url, ...window });
    for (const ms of durations) result.add(ms);
    result.refused += refused;
  };
  const strangers = new AskedProcess<FloodOrder>(new URL('./flood.ts', import.meta.url));
  const chainIds = chains.map(({ chainId }) => chainId);
  const timeFlooded = async () => {
    const flood = strangers.ask<FloodResult>({ url, chainIds, seconds: FLOOD_AHEAD_SECS + floodedQuotes.seconds });
    await sleep(FLOOD_AHEAD_SECS * 1_000);
    await time(floodedQuotes);
    floods.push(await flood);
  };
  try {
    for (const window of calm) await time(windowOf(window.requests, WARM_UP_SECS, window.clients));
    for (let round = 0; round < rounds; round++) {
      stalls.push(
        await longestStall(url, async () => {
          for (const window of calm) await time(window);
        }),
      );
      floodStalls.push(await longestStall(url, timeFlooded));
    }
  } finally {
    clients.stop();
    strangers.stop();
  }
  return {
    quotesP99: quotes.result.quantile(0.99),
    pagesP99: pages.result.quantile(0.99),
    routesP99: routes.result.quantile(0.99),
    guardedRoutesP99: guardedRoutes.result.quantile(0.99),
    stallLoadMs: Math.max(...stalls),
    floodedQuotesP99: floodedQuotes.result.quantile(0.99),
    floodRate: sumOf(floods.map(({ rate }) => rate)) / rounds,
    floodBroken: sumOf(floods.map(({ broken }) => broken)),
    floodStallMs: Math.max(...floodStalls),
    refused: sumOf([...calm, floodedQuotes].map(({ result }) => result.refused)),
  };
}

const windowOf = (requests: readonly LoadRequest[], seconds: number, clients = OTHER_CLIENTS): Window => ({
  requests,
  clients,
  seconds,
  result: new LoadResult(),
});

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);
