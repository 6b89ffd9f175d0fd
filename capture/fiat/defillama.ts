import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { FiatPrice, PriceSource } from './price-sources.ts';
import { parseTokenKey, type TokenKey } from './token-key.ts';

export type LlamaOptions = {
  readonly baseUrl: string;
  /** Name of a chain at the service; undefined: it does not know the chain. */
  readonly chainSlug: (chainId: number) => string | undefined;
  readonly batchSize?: number;
  readonly cacheMs?: number;
  readonly timeoutMs?: number;
  readonly retryDelayMs?: number;
};

/** Tokens per request: some 50 characters each keep the address line within what servers take. */
const BATCH_SIZE = 80;
const CACHE_MS = 45_000;
const CACHE_TOKENS = 20_000;
const TIMEOUT_MS = 8_000;
const ATTEMPTS = 3;
const RETRY_DELAY_MS = 500;
const MAX_RETRY_AFTER_MS = 5_000;
/** Below this the service itself does not trust its price. */
const MIN_CONFIDENCE = 0.8;

const Answer = z.object({
  coins: z.record(
    z.string(),
    z.object({
      price: z.number().nonnegative().finite(),
      /** Unix seconds. */
      timestamp: z.number().positive(),
      confidence: z.number().optional(),
    }),
  ),
});

/** The service did not answer usefully. */
export class LlamaError extends Error {
  override readonly name = 'LlamaError';
  readonly retryAfterMs: number | null;
  readonly isRetryable: boolean;

  constructor(message: string, options: { isRetryable: boolean; retryAfterMs?: number | null; cause?: unknown }) {
    super(message, { cause: options.cause });
    this.isRetryable = options.isRetryable;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}

/**
 * Current prices of DefiLlama's public coin API: tokens in batches, each batch tried up to three times, answers kept for
 * a while, those of tokens without a price too.
 *
 * The source rejects with {@link LlamaError} when a batch still fails after its last attempt.
 */
export function defiLlamaPrices(options: LlamaOptions): PriceSource {
  const { chainSlug, batchSize = BATCH_SIZE, cacheMs = CACHE_MS } = options;
  const cache = new LRUCache<TokenKey, { readonly price: FiatPrice | null }>({ max: CACHE_TOKENS, ttl: cacheMs });

  const coinOf = (token: TokenKey): string | null => {
    const { chainId, address } = parseTokenKey(token);
    const slug = chainSlug(chainId);
    return slug === undefined ? null : `${slug}:${address}`;
  };

  return async (tokens) => {
    const missing = tokens.filter((token) => !cache.has(token));
    const coins = missing.flatMap((token) => {
      const coin = coinOf(token);
      return coin === null ? [] : [{ token, coin }];
    });
    for (let start = 0; start < coins.length; start += batchSize) {
      const batch = coins.slice(start, start + batchSize);
      const prices = await fetchWithRetries(
        batch.map(({ coin }) => coin),
        options,
      );
      for (const { token, coin } of batch) cache.set(token, { price: prices.get(coin) ?? null });
    }
    const known = tokens.flatMap((token) => {
      const price = cache.get(token)?.price;
      return price ? [[token, price] as const] : [];
    });
    return new Map(known);
  };
}

async function fetchWithRetries(coins: readonly string[], options: LlamaOptions): Promise<Map<string, FiatPrice>> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await fetchPrices(coins, options);
    } catch (error) {
      if (!(error instanceof LlamaError) || !error.isRetryable || attempt === ATTEMPTS) throw error;
      const backoff = (options.retryDelayMs ?? RETRY_DELAY_MS) * 2 ** (attempt - 1);
      await new Promise((resolve) => setTimeout(resolve, error.retryAfterMs ?? backoff));
    }
  }
}

async function fetchPrices(coins: readonly string[], options: LlamaOptions): Promise<Map<string, FiatPrice>> {
  const url = `${options.baseUrl.replace(/\/$/, '')}/prices/current/${coins.map(encodeURIComponent).join(',')}`;
  const response = await request(url, options.timeoutMs ?? TIMEOUT_MS);
  if (!response.ok) {
    const isRetryable = response.status === 429 || response.status >= 500;
    throw new LlamaError(`the price service answered ${response.status}`, {
      isRetryable,
      retryAfterMs: retryAfter(response),
    });
  }
  const answer = Answer.safeParse(await response.json().catch(() => null));
  if (!answer.success) throw new LlamaError('the price service answered nonsense', { isRetryable: true });
  return toPrices(answer.data);
}

async function request(url: string, timeoutMs: number): Promise<Response> {
  try {
    return await fetch(url, { signal: AbortSignal.timeout(timeoutMs) });
  } catch (cause) {
    throw new LlamaError('the price service does not answer', { isRetryable: true, cause });
  }
}

/** The service may spell addresses with capitals. */
function toPrices({ coins }: z.infer<typeof Answer>): Map<string, FiatPrice> {
  const trusted = Object.entries(coins).filter(([, { confidence }]) => (confidence ?? 1) >= MIN_CONFIDENCE);
  return new Map(
    trusted.map(([coin, { price, timestamp }]) => [
      coin.toLowerCase(),
      { usd: price, source: 'defillama', pricedAt: new Date(timestamp * 1000) },
    ]),
  );
}

function retryAfter(response: Response): number | null {
  const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN);
  return Number.isFinite(seconds) ? Math.min(seconds * 1000, MAX_RETRY_AFTER_MS) : null;
}
