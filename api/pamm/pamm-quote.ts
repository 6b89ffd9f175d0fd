import type { Context } from 'hono';
import { type ProviderResult, QueuesUnavailableError, type QuoteDispatcher } from '../../builders/submit/dispatcher.ts';
import type { Endpoint } from '../../builders/submit/endpoints.ts';
import { hasOwnSource } from '../../config/live-schema.ts';
import type { PammConfig } from '../../config/pamm-schema.ts';
import type { Clocks } from '../../runtime/clock.ts';
import { stringifyJson } from '../../runtime/json.ts';
import { requiredKey } from '../auth/authenticate.ts';
import { bodyBytes } from '../body.ts';
import { defineResource } from '../declaration/api-route.ts';
import { badRequest, unavailable } from '../errors.ts';
import { chainIdParam, type ServedChains, servedChain } from '../request.ts';
import { type QuoteBody, readQuoteBody } from './body-shape.ts';
import { submitQuoteUpdate } from './declaration.ts';
import type { PublishUpdate } from './publish-update.ts';
import { toQuoteUpdate } from './quote-values.ts';

/** Longest time from arrival to the response, as the contract has it. */
const RESPONSE_TIMEOUT_MS = 500;
/** The part of that time which is kept for writing the response. */
const RESPONSE_MARGIN_MS = 15;
/** However late the body of an update came, it has this long to be queued. */
const MIN_QUEUEING_MS = 200;
/** A longer body counts as further updates: it is parsed, and queued for each builder. Makers send a few kB. */
const BYTES_PER_COUNT = 16 * 1024;
/** Chains of the contract. Without usable builders they return 503, while other chains simply take no updates. */
const CONTRACT_CHAINS: ReadonlyMap<number, PammConfig['kind']> = new Map([
  [1, 'ethereum'],
  [56, 'bsc'],
]);

export type PammDeps = Pick<Clocks, 'wallClock'> & {
  readonly chains: ServedChains;
  /** Usable builder endpoints by chain. */
  readonly endpoints: ReadonlyMap<number, readonly Endpoint[]>;
  readonly submit: QuoteDispatcher['submit'];
  /**
   * Takes accepted updates of keys that publish them, on chains with a source of kind `own`. Default:
   * none are published.
   */
  readonly publish?: PublishUpdate;
  /** Longest time from arrival to the response, 500 ms by default; a request can only lower it. */
  readonly responseTimeoutMs?: number;
};

/** `POST /public/v1/evm/{chain_id}/pamm-quote`. */
export const pammResource = defineResource([submitQuoteUpdate], (deps: PammDeps) => ({
  submitQuoteUpdate: (c) => submitQuote(c, deps),
}));

async function submitQuote(c: Context, deps: PammDeps): Promise<Response> {
  const arrivedAtMs = c.get('arrivedAtMs');
  const chain = pammChain(deps.chains, chainIdParam(c));
  await countLength(c);
  const body = await readQuoteBody(c, chain.kind);
  const update = toQuoteUpdate(body, chain, deps.wallClock());
  const endpoints = deps.endpoints.get(chain.chainId) ?? [];
  if (endpoints.length === 0) throw unavailable();
  const { holder, publishesQuotes } = requiredKey(c);
  const isPublished = publishesQuotes && chain.hasOwnSource;
  const longestMs = (deps.responseTimeoutMs ?? RESPONSE_TIMEOUT_MS) - RESPONSE_MARGIN_MS;
  const publish = () => deps.publish?.(update, { kind: chain.kind, holder, arrivedAtMs });
  const results = await submit(deps, update, endpoints, {
    holder,
    arrivedAtMs,
    waitUntilMs: arrivedAtMs + waitMs(body, longestMs),
    queueUntilMs: Math.max(arrivedAtMs + longestMs, deps.wallClock() + MIN_QUEUEING_MS),
    onAccepted: isPublished ? publish : undefined,
  });
  return c.body(stringifyJson(toResponse(results)), 200, { 'Content-Type': 'application/json' });
}

/** Counts an update once more for each {@link BYTES_PER_COUNT} of its body. @throws ApiError 429 */
async function countLength(c: Context): Promise<void> {
  const further = Math.floor((await bodyBytes(c)).length / BYTES_PER_COUNT);
  await Promise.all(Array.from({ length: further }, () => c.get('countMore')?.()));
}

/** Gives the chain of the path, if it takes updates. @throws ApiError 404 or 400 */
function pammChain(chains: ServedChains, chainIdText: string) {
  const chain = servedChain(chains, chainIdText);
  const kind = chain.pamm?.kind ?? CONTRACT_CHAINS.get(chain.chainId);
  if (!kind) throw badRequest(`chain_id ${chain.chainId} takes no quote updates`);
  return { chainId: chain.chainId, kind, hasOwnSource: hasOwnSource(chain) };
}

/** How long to wait for builders, milliseconds from arrival. The request can only lower `longestMs`. */
function waitMs({ responseTimeoutMs }: QuoteBody, longestMs: number): number {
  return responseTimeoutMs == null || responseTimeoutMs > BigInt(longestMs) ? longestMs : Number(responseTimeoutMs);
}

async function submit(deps: PammDeps, ...args: Parameters<QuoteDispatcher['submit']>): Promise<ProviderResult[]> {
  try {
    return await deps.submit(...args);
  } catch (error) {
    throw error instanceof QueuesUnavailableError ? unavailable(error) : error;
  }
}

function toResponse(results: readonly ProviderResult[]) {
  const providers = results.map(({ provider, answer }) =>
    answer === undefined ? { provider, accepted: false, pending: true } : { provider, ...answer },
  );
  return { accepted: providers.some(({ accepted }) => accepted), providers };
}
