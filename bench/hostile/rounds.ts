import { setTimeout as sleep } from 'node:timers/promises';
import { LoadClients } from '../../test/abuse/load.ts';
import { OrderProcess } from '../../test/abuse/order-process.ts';
import type { LoadRequest } from '../../test/abuse/timed-request.ts';
import type { FloodOrder, FloodResult } from '../../test/abuse/uncached-flood.ts';
import { Samples } from '../../test/harness/samples.ts';
import { longestStall } from '../process-figures.ts';
import type { HostileChain } from './chain.ts';
import { pageRequests, quoteRequests, routeRequests } from './requests.ts';

/** What is asked in one window of each round, and what it took in each. */
interface Window {
  readonly requests: readonly LoadRequest[];
  readonly load: { readonly clients: number; readonly pauseMs: number };
  readonly seconds: number;
  readonly p99s: Samples;
  rejected: number;
}

/** Some 900 quotes a second: calm. Without pauses clients would take what the flood leaves, and wait for each other. */
const QUOTE_LOAD = { clients: 16, pauseMs: 16 };
const OTHER_LOAD = { clients: 2, pauseMs: 0 };

/** Untimed requests of each kind before the first round fill caches and let V8 compile. */
const WARM_UP_SECS = 2;
/** The flood starts this long before the window that is timed under it. */
const FLOOD_AHEAD_SECS = 1;

/**
 * Times quotes, pages and routes, and quotes during a flood of uncached requests. Each round has a short window of
 * each, so that bursts of the other processes affect all of them alike.
 */
export class Rounds {
  readonly #url: string;
  readonly #chainIds: readonly number[];
  readonly #clients = new LoadClients();
  readonly #anonymous = new OrderProcess<FloodOrder>(new URL('../../test/abuse/uncached-flood.ts', import.meta.url));
  readonly #quotes: Window;
  readonly #pages: Window;
  readonly #routes: Window;
  readonly #guardedRoutes: Window;
  readonly #floodedQuotes: Window;
  readonly #stalls = new Samples();
  readonly #floodStalls = new Samples();
  readonly #floodRates = new Samples();
  #floodBroken = 0;

  constructor(url: string, chains: readonly HostileChain[]) {
    const [plain, guarded] = chains as readonly [HostileChain, HostileChain];
    this.#url = url;
    this.#chainIds = chains.map(({ chainId }) => chainId);
    const windowOf = (requests: readonly LoadRequest[], seconds: number, load = OTHER_LOAD): Window => {
      return { requests, load, seconds, p99s: new Samples(), rejected: 0 };
    };
    this.#quotes = windowOf(quoteRequests(chains), 3, QUOTE_LOAD);
    this.#pages = windowOf(pageRequests(chains), 3);
    this.#routes = windowOf(routeRequests(plain), 1);
    this.#guardedRoutes = windowOf(routeRequests(guarded), 1);
    this.#floodedQuotes = windowOf(this.#quotes.requests, 3, QUOTE_LOAD);
  }

  async warmUp(): Promise<void> {
    for (const window of this.#calm) await this.#time({ ...window, seconds: WARM_UP_SECS, p99s: new Samples() });
  }

  async measure(): Promise<void> {
    const calm = async () => {
      for (const window of this.#calm) await this.#time(window);
    };
    this.#stalls.add(await longestStall(this.#url, calm));
    this.#floodStalls.add(await longestStall(this.#url, () => this.#timeFlooded()));
  }

  /** Medians of windows: a burst of whatever else the machine does is in one of them, and in the longest stall. */
  figures() {
    return {
      quotesP99: this.#quotes.p99s.median,
      pagesP99: this.#pages.p99s.median,
      routesP99: this.#routes.p99s.median,
      guardedRoutesP99: this.#guardedRoutes.p99s.median,
      stallLoadMs: this.#stalls.max,
      floodedQuotesP99: this.#floodedQuotes.p99s.median,
      floodRate: this.#floodRates.mean,
      floodBroken: this.#floodBroken,
      floodStallMs: this.#floodStalls.max,
      rejected: [...this.#calm, this.#floodedQuotes].reduce((sum, { rejected }) => sum + rejected, 0),
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
    const { times, rejected } = await this.#clients.forSeconds({ url: this.#url, requests, ...load }, seconds);
    window.p99s.add(new Samples(times).p99);
    window.rejected += rejected;
  }

  async #timeFlooded(): Promise<void> {
    const seconds = FLOOD_AHEAD_SECS + this.#floodedQuotes.seconds;
    const port = Number(new URL(this.#url).port);
    const flood = this.#anonymous.ask<FloodResult>({ port, chainIds: this.#chainIds, seconds });
    await sleep(FLOOD_AHEAD_SECS * 1_000);
    await this.#time(this.#floodedQuotes);
    const { rate, broken } = await flood;
    this.#floodRates.add(rate);
    this.#floodBroken += broken;
  }
}
