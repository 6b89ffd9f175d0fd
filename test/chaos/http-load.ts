import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../devnet/traffic/random.ts';
import type { ChaosChain } from './chaos-chain.ts';
import { deadlineOf, ENDPOINTS, type EndpointName, objectionTo } from './documented-answers.ts';
import type { SupervisedProcess } from './supervised-process.ts';

/** A request without the address of the process that gets it. */
export interface PlannedRequest {
  readonly endpoint: EndpointName;
  readonly path: string;
  readonly body?: unknown;
  readonly key?: string;
}

export interface LoadReport {
  answers: number;
  /** Connections that broke since the process was killed. */
  broken: number;
  readonly byStatus: Record<string, number>;
  /** Longest time to an answer, milliseconds. */
  readonly slowest: Record<EndpointName, number>;
  /** What no client may see. */
  readonly violations: string[];
}

/** What a busy machine may add to a deadline. */
const GRACE_MS = 5_000;
/** A connection may break shortly before or after the recorded time of a kill. */
const SLACK_MS = 250;

export function emptyReport(): LoadReport {
  const slowest = Object.fromEntries(ENDPOINTS.map((name) => [name, 0])) as Record<EndpointName, number>;
  return { answers: 0, broken: 0, byStatus: {}, slowest, violations: [] };
}

/** Sends requests to API processes and judges every answer. */
export class HttpClient {
  readonly report = emptyReport();
  readonly #apis: readonly SupervisedProcess[];
  readonly #random: Random;

  constructor(apis: readonly SupervisedProcess[], random: Random) {
    this.#apis = apis;
    this.#random = random;
  }

  /** Sends random read requests at a rate until it is stopped, and waits for the last answer. */
  async load(requests: () => PlannedRequest, perSecond: number, signal: AbortSignal): Promise<void> {
    const open = new Set<Promise<unknown>>();
    while (!signal.aborted) {
      const answer = this.send(requests()).finally(() => open.delete(answer));
      open.add(answer);
      await sleep(1_000 / perSecond);
    }
    await Promise.all(open);
  }

  /** The text of a 200; undefined for every other outcome, which is judged. */
  async send(request: PlannedRequest): Promise<string | undefined> {
    const api = this.#random.pick(this.#apis);
    const startedAtMs = Date.now();
    const fail = (what: string) => this.#object(request, what);
    const limitMs = deadlineOf(request.endpoint) + GRACE_MS;
    try {
      const { response, text } = await exchange(api.url, request, limitMs);
      this.#note(request.endpoint, response.status, Date.now() - startedAtMs);
      const answer = { status: response.status, text, retryAfter: response.headers.get('Retry-After') };
      const objection = objectionTo(request.endpoint, answer);
      if (objection === null) return response.status === 200 ? text : undefined;
      // A body that ends with its connection is cut short by a kill.
      if (text === '' && api.wasUnreachable(startedAtMs - SLACK_MS, Date.now() + SLACK_MS)) this.report.broken += 1;
      else fail(objection);
      return undefined;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      if (error.name === 'TimeoutError') fail(`no answer after ${limitMs / 1_000} s`);
      else if (api.wasUnreachable(startedAtMs - SLACK_MS, Date.now() + SLACK_MS)) this.report.broken += 1;
      else fail(`connection failed although ${api.name} runs: ${String(error.cause ?? error)}`);
      return undefined;
    }
  }

  #note(endpoint: EndpointName, status: number, tookMs: number): void {
    const { byStatus, slowest } = this.report;
    this.report.answers += 1;
    byStatus[`${endpoint} ${status}`] = (byStatus[`${endpoint} ${status}`] ?? 0) + 1;
    slowest[endpoint] = Math.max(slowest[endpoint], tookMs);
  }

  #object({ endpoint, path }: PlannedRequest, what: string): void {
    this.report.violations.push(`${endpoint} ${path}: ${what}`);
  }
}

async function exchange(base: string, { path, body, key }: PlannedRequest, limitMs: number) {
  const response = await fetch(base + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
      // A process that stops may close an idle connection just as it is used again.
      Connection: 'close',
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(limitMs),
  });
  return { response, text: await response.text() };
}

/** Random requests of every kind to pools of these chains, a few of them for what does not exist. */
export function randomRequests(chains: readonly ChaosChain[], random: Random, key: string): () => PlannedRequest {
  const keyed = () => (random.chance(30) ? { key } : {});
  const plans: readonly (() => PlannedRequest)[] = [
    () => ({ endpoint: 'chains', path: '/public/v1/chains', ...keyed() }),
    () => ({ endpoint: 'metadata', path: `/public/v1/evm/${chainId()}/metadata?${listing()}`, ...keyed() }),
    () => ({ endpoint: 'metadata', path: `/public/v1/evm/metadata?${listing()}` }),
    () => ({
      endpoint: 'quote',
      path: `${poolPath()}/bid_ask?depth=${random.pick(['true', 'false', 'no'])}`,
      ...keyed(),
    }),
    () => ({ endpoint: 'quote', path: `${poolPath()}/bid_ask` }),
    () => ({ endpoint: 'batch', path: `/public/v1/evm/${chainId()}/bid_ask/batch`, body: batch(), ...keyed() }),
    () => ({ endpoint: 'route', path: `/public/v1/evm/${chainId()}/route`, body: order(), ...keyed() }),
  ];
  let chain = random.pick(chains);
  const chainId = () => (random.chance(3) ? 99 : chain.plan.chainId);
  const pool = () => (random.chance(3) ? `0x${'9'.repeat(40)}` : random.pick(chain.pools).address);
  const poolPath = () => `/public/v1/evm/${chain.plan.chainId}/${pool()}`;
  const listing = () =>
    `include24h=${random.pick(['true', 'false', 'maybe'])}&minTvlFiat=0&count=${random.integer(1, 500)}`;
  const batch = () => ({ pools: Array.from({ length: random.integer(1, 12) }, pool), depth: random.chance(70) });
  const order = () => {
    const { token0, token1 } = random.pick(chain.pools);
    const amount = String(10n ** BigInt(random.integer(0, 24)));
    const tokens = random.chance(50) ? [token0, token1] : [token1, token0];
    const amounts = random.chance(50) ? { amountIn: amount } : { amountOut: amount };
    return { tokenIn: tokens[0], tokenOut: tokens[1], ...amounts };
  };
  return () => {
    chain = random.pick(chains);
    return random.pick(plans)();
  };
}
