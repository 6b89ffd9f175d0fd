import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { AppError } from '../../config/app-error.ts';
import type { FiatPrice, PriceSource } from './price-sources.ts';
import { parseTokenKey, type TokenKey } from './token-key.ts';
import { UnknownTokens } from './unknown-tokens.ts';

export type LlamaOptions = {
  readonly baseUrl: string;
  /** Name of a chain at the service; undefined: it does not know the chain. */
  readonly chainSlug: (chainId: number) => string | undefined;
  /** Most tokens of strangers that one call asks for, and the longest pause of one that the service does not know. */
  readonly unknownPerRound: number;
  readonly unknownPauseSecs: number;
  /** How long answers are kept, and of how many tokens. */
  readonly cacheMs: number;
  readonly cachedTokens: number;
  readonly batchSize?: number;
  readonly timeoutMs?: number;
  readonly retryDelayMs?: number;
};

/**
 * Tokens per request. All are named in the path, some 55 characters each, and the service stands behind a gateway that
 * takes 10,240 bytes of request line and headers.
 */
const BATCH_SIZE = 80;
const TIMEOUT_MS = 8_000;
const ATTEMPTS = 3;
const RETRY_DELAY_MS = 500;
const MAX_RETRY_AFTER_MS = 5_000;
/** Below this the service itself does not trust its price. */
const MIN_CONFIDENCE = 0.8;
/** How far the service's clock may be ahead of ours. A price of a later time is of unknown age: it would never grow old. */
const MAX_AHEAD_SECS = 300;

/** Coins that the service does not know, or has not priced for twelve hours, are left out. */
const Answer = z.object({ coins: z.record(z.string(), z.unknown()) });

/** A price of unknown age is ignored, and so are `symbol` and `decimals`: those are read from the token. */
const PricedCoin = z.object({
  price: z.number().nonnegative().finite(),
  /** Of the price, Unix seconds: most are minutes old, some of thinly traded tokens an hour or more. */
  timestamp: z.number().positive(),
  /** From 0 to 1; missing where the price was set by hand. */
  confidence: z.number().nullish(),
});

/** A token and what the service calls it. */
type Coin = { readonly token: TokenKey; readonly coin: string };

/** The service did not answer usefully. */
class DefiLlamaError extends AppError {
  readonly code = 'DEFILLAMA';
  readonly retryable: boolean;
  readonly retryAfterMs: number | null;

  constructor(message: string, options: { retryable: boolean; retryAfterMs?: number | null; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/**
 * Current prices of DefiLlama's public coin API: tokens in batches, each batch tried up to three times, answers kept for
 * a while, those of tokens without a price too. Strangers' tokens come last, a few in each call; one that the service does not
 * know pauses, longer each time. A batch that is refused does not affect others; when the service is unreachable, the rest is
 * left to the next time.
 */
export function defiLlamaPrices(options: LlamaOptions): PriceSource {
  const { chainSlug, unknownPerRound, unknownPauseSecs, batchSize = BATCH_SIZE, cacheMs, cachedTokens } = options;
  const cache = new LRUCache<TokenKey, { readonly price: FiatPrice | null }>({ max: cachedTokens, ttl: cacheMs });
  const longestPauseMs = unknownPauseSecs * 1_000;
  const unknown = new UnknownTokens({ perRound: unknownPerRound, firstPauseMs: cacheMs, longestPauseMs });

  const coinOf = (token: TokenKey): Coin[] => {
    const { chainId, address } = parseTokenKey(token);
    const slug = chainSlug(chainId);
    return slug === undefined ? [] : [{ token, coin: `${encodeURIComponent(slug)}:${address}` }];
  };

  const askFor = async (batch: readonly Coin[]): Promise<DefiLlamaError | null> => {
    const names = batch.map(({ coin }) => coin);
    try {
      const prices = await fetchWithRetries(names, options);
      for (const { token, coin } of batch) cache.set(token, { price: prices.get(coin) ?? null });
      return null;
    } catch (error) {
      if (error instanceof DefiLlamaError) return error;
      throw error;
    }
  };

  const askForAll = async (coins: readonly Coin[]): Promise<DefiLlamaError[]> => {
    const failures: DefiLlamaError[] = [];
    for (let start = 0; start < coins.length; start += batchSize) {
      const failure = await askFor(coins.slice(start, start + batchSize));
      if (failure) failures.push(failure);
      if (failure?.retryable) break;
    }
    return failures;
  };

  const open = (tokens: readonly TokenKey[]) => tokens.filter((token) => !cache.has(token)).flatMap(coinOf);

  return async ({ first, others }) => {
    const failures = await askForAll(open(first));
    if (!failures.some(({ retryable }) => retryable)) {
      const due = unknown.due(open(others));
      const further = await askForAll(due);
      const isReached = !further.some(({ retryable }) => retryable);
      for (const { token } of due) {
        // One of a batch that was refused has no answer: it must not be in the way of others.
        const isUnknown = cache.has(token) ? cache.get(token)?.price === null : isReached;
        if (isUnknown) unknown.pause(token);
      }
      failures.push(...further);
    }
    const known = [...first, ...others].flatMap((token) => {
      const price = cache.get(token)?.price;
      return price ? [[token, price] as const] : [];
    });
    return { prices: new Map(known), failures };
  };
}

async function fetchWithRetries(coins: readonly string[], options: LlamaOptions): Promise<Map<string, FiatPrice>> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await fetchPrices(coins, options);
    } catch (error) {
      if (!(error instanceof DefiLlamaError) || !error.retryable || attempt === ATTEMPTS) throw error;
      const backoff = (options.retryDelayMs ?? RETRY_DELAY_MS) * 2 ** (attempt - 1);
      await sleep(error.retryAfterMs ?? backoff);
    }
  }
}

async function fetchPrices(coins: readonly string[], options: LlamaOptions): Promise<Map<string, FiatPrice>> {
  const url = `${options.baseUrl.replace(/\/$/, '')}/prices/current/${coins.join(',')}`;
  const response = await request(url, options.timeoutMs ?? TIMEOUT_MS);
  if (!response.ok) {
    const retryable = response.status === 429 || response.status >= 500;
    throw new DefiLlamaError(`the price service answered ${response.status}`, {
      retryable,
      retryAfterMs: retryAfter(response),
    });
  }
  const answer = Answer.safeParse(await response.json().catch(() => null));
  if (!answer.success) throw new DefiLlamaError('the price service answered nonsense', { retryable: true });
  return toPrices(answer.data);
}

async function request(url: string, timeoutMs: number): Promise<Response> {
  try {
    return await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
  } catch (cause) {
    throw new DefiLlamaError('the price service does not answer', { retryable: true, cause });
  }
}

/** Prices by coin as it was asked for, in lower case; an entry that makes no sense spoils no other. */
function toPrices({ coins }: z.infer<typeof Answer>): Map<string, FiatPrice> {
  const prices = new Map<string, FiatPrice>();
  for (const [name, entry] of Object.entries(coins)) {
    const coin = PricedCoin.safeParse(entry);
    if (!coin.success || (coin.data.confidence ?? 1) < MIN_CONFIDENCE) continue;
    const { price, timestamp } = coin.data;
    if (timestamp > Date.now() / 1000 + MAX_AHEAD_SECS) continue;
    prices.set(name.toLowerCase(), { usd: price, source: 'defillama', pricedAt: new Date(timestamp * 1000) });
  }
  return prices;
}

function retryAfter(response: Response): number | null {
  const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, MAX_RETRY_AFTER_MS) : null;
}
