import { setTimeout as sleep } from 'node:timers/promises';
import { OrderProcess } from '../order-process.ts';
import { Samples } from '../route/measure.ts';
import type { HostileChain } from './chain.ts';
import type { FloodOrder, FloodResult } from './flood.ts';
import type { LoadRequest } from './load.ts';
import type { LoadOrder, LoadWindow } from './load-clients.ts';
import { longestStall } from './measurements.ts';
import { pageRequests, quoteRequests, routeRequests } from './requests.ts';

/** What is asked in one window of each round, and what it took in each. */
interface Window {
  readonly requests: readonly LoadRequest[];
  readonly load: Load;
  readonly seconds: number;
  readonly p99s: Samples;
  rejected: number;
}

type Load = Pick<LoadOrder, 'clients' | 'pauseMs'>;

/** Some 900 quotes a second: calm. Without pauses clients would take what the flood leaves, and wait for each other. */
const QUOTE_LOAD: Load = { clients: 16, pauseMs: 16 };
const OTHER_LOAD: Load = { clients: 2, pauseMs: 0 };

/** Untimed requests of each kind before the first round fill caches and let V8 compile. */
const WARM_UP_SECS = 2;
/** The flood starts this long before the window that is timed under it. */
const FLOOD_AHEAD_SECS = 1;

/**
 * Times quotes, pages and routes, and quotes during a flood of uncached requests. Each round has a short window of each, so
 * that bursts of the other processes affect all of them alike.
 */
export class Rounds {
  readonly #url: string;
  readonly #chainIds: readonly number[];
  readonly #clients = new OrderProcess<LoadOrder>(new URL('./load-clients.ts', import.meta.url));
  readonly #anonymous = new OrderProcess<FloodOrder>(new URL('./flood.ts', import.meta.url));
  readonly #quotes: Window;
  readonly #pages: Window;
  readonly #routes: Window;
  readonly #guardedRoutes: Window;
  readonly #floodedQuotes: Window;
  readonly #stalls: number[] = [];
  readonly #floodStalls: number[] = [];
  readonly #floods: FloodResult[] = [];

  constructor(url: string, chains: readonly HostileChain[]) {
    const [plain, guarded] = chains as readonly [HostileChain, HostileChain];
    this.#url = url;
    this.#chainIds = chains.map(({ chainId }) => chainId);
    this.#quotes = windowOf(quoteRequests(chains), 3, QUOTE_LOAD);
    this.#pages = windowOf(pageRequests(chains), 3, OTHER_LOAD);
    this.#routes = windowOf(routeRequests(plain), 1, OTHER_LOAD);
    this.#guardedRoutes = windowOf(routeRequests(guarded), 1, OTHER_LOAD);
    this.#floodedQuotes = windowOf(this.#quotes.requests, 3, QUOTE_LOAD);
  }

  async warmUp(): Promise<void> {
    for (const window of this.#calm) await this.#time({ ...window, seconds: WARM_UP_SECS, p99s: new Samples() });
  }

  async measure(): Promise<void> {
    const calm = async () => {
      for (const window of this.#calm) await this.#time(window);
    };
    this.#stalls.push(await longestStall(this.#url, calm));
    this.#floodStalls.push(await longestStall(this.#url, () => this.#timeFlooded()));
  }

  figures() {
    const floods = this.#floods;
    return {
      quotesP99: medianOf(this.#quotes.p99s),
      pagesP99: medianOf(this.#pages.p99s),
      routesP99: medianOf(this.#routes.p99s),
      guardedRoutesP99: medianOf(this.#guardedRoutes.p99s),
      stallLoadMs: Math.max(...this.#stalls),
      floodedQuotesP99: medianOf(this.#floodedQuotes.p99s),
      floodRate: sumOf(floods.map(({ rate }) => rate)) / floods.length,
      floodBroken: sumOf(floods.map(({ broken }) => broken)),
      floodStallMs: Math.max(...this.#floodStalls),
      rejected: sumOf([...this.#calm, this.#floodedQuotes].map(({ rejected }) => rejected)),
    };
  }

  stop(): void {
    this.#clients.stop();
    this.#anonymous.stop();
  }

  get #calm(): readonly Window[] {
    return [this.#quotes, this.#pages, this.#routes, this.#guardedRoutes];
  }

  async #time(window: Window): Promise<void> {
    const { requests, load, seconds } = window;
    const { p99, rejected } = await this.#clients.ask<LoadWindow>({ url: this.#url, requests, ...load, seconds });
    window.p99s.add(p99);
    window.rejected += rejected;
  }

  async #timeFlooded(): Promise<void> {
    const seconds = FLOOD_AHEAD_SECS + this.#floodedQuotes.seconds;
    const flood = this.#anonymous.ask<FloodResult>({ url: this.#url, chainIds: this.#chainIds, seconds });
    await sleep(FLOOD_AHEAD_SECS * 1_000);
    await this.#time(this.#floodedQuotes);
    this.#floods.push(await flood);
  }
}

const windowOf = (requests: readonly LoadRequest[], seconds: number, load: Load): Window => ({
  requests,
  load,
  seconds,
  p99s: new Samples(),
  rejected: 0,
});

/** Of a window: a burst of whatever else the machine does is in one of them, and in the longest stall. */
const medianOf = (windows: Samples): number => windows.quantile(0.5);

const sumOf = (numbers: readonly number[]): number => numbers.reduce((sum, each) => sum + each, 0);
