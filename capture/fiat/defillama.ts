import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { AppError } from '../../config/app-error.ts';
import { retryAfterMs, sendRequest } from '../../runtime/http-request.ts';
import { pause } from '../../runtime/pause.ts';
import type { FiatPrice, PriceSource } from './price-sources.ts';
import { parseTokenKey, type TokenKey } from './token-key.ts';

export type LlamaOptions = {
  readonly baseUrl: string;
  /** Name of a chain at the service; undefined: it does not know the chain. */
  readonly chainSlug: (chainId: number) => string | undefined;
  /** For tests; the constants below stand in for what is left out. */
  readonly limits?: Partial<typeof LIMITS>;
};

const LIMITS = {
  /**
   * Tokens per request. All are named in the path, some 55 characters each, and the service stands behind a gateway that
   * takes 10,240 bytes of request line and headers.
   */
  batchSize: 80,
  /** How long an answer is used: the service changes its own every few minutes. */
  cacheMs: 120_000,
  /** The same of a token that it does not know and that anyone may have made. */
  unknownMs: 900_000,
  /** Most such tokens that one call asks for. */
  unknownPerCall: 400,
  timeoutMs: 8_000,
  retryMs: 500,
  /** Of an answer: 80 coins take some 20 KB. */
  maxBytes: 1_000_000,
};

/** Answers kept, at some 200 bytes. */
const MAX_ANSWERS = 100_000;
const ATTEMPTS = 3;
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
 * Current prices of DefiLlama's public coin API: tokens in batches, each batch tried up to three times, answers kept for a while.
 * Tokens that anyone may have made come last, a few in each call, the one asked for longest ago first. A batch that is rejected
 * does not affect others; when the service is unreachable, the rest is left to the next call.
 */
export function defiLlamaPrices({ baseUrl, chainSlug, limits }: LlamaOptions): PriceSource {
  const rules = { ...LIMITS, ...limits };
  const { batchSize, cacheMs, unknownMs, unknownPerCall } = rules;
  const answers = new LRUCache<TokenKey, { readonly price: FiatPrice | null; readonly at: number }>({
    max: MAX_ANSWERS,
  });
  const askedAt = (token: TokenKey) => answers.peek(token)?.at ?? Number.NEGATIVE_INFINITY;
  const isDue = (token: TokenKey, forMs: number) => askedAt(token) + forMs <= performance.now();

  const coinOf = (token: TokenKey): Coin[] => {
    const { chainId, address } = parseTokenKey(token);
    const slug = chainSlug(chainId);
    return slug === undefined ? [] : [{ token, coin: `${encodeURIComponent(slug)}:${address}` }];
  };

  const askFor = async (batch: readonly Coin[]): Promise<DefiLlamaError | null> => {
    try {
      const prices = await fetchWithRetries(baseUrl, batch, rules);
      for (const { token, coin } of batch)
        answers.set(token, { price: prices.get(coin) ?? null, at: performance.now() });
      return null;
    } catch (error) {
      if (!(error instanceof DefiLlamaError)) throw error;
      if (error.retryable) return error;
      // Rejected tokens that anyone may have made must not be in the way of others; known ones are due again.
      const at = performance.now() - cacheMs;
      for (const { token } of batch) answers.set(token, { price: answers.peek(token)?.price ?? null, at });
      return error;
    }
  };

  return async ({ first, others }) => {
    const unknown = others
      .filter((token) => isDue(token, answers.peek(token)?.price ? cacheMs : unknownMs))
      .sort((a, b) => askedAt(a) - askedAt(b) || 0);
    const batches = [
      ...inBatches(first.filter((token) => isDue(token, cacheMs)).flatMap(coinOf), batchSize),
      ...inBatches(unknown.flatMap(coinOf).slice(0, unknownPerCall), batchSize),
    ];
    const failures: DefiLlamaError[] = [];
    for (const batch of batches) {
      const failure = await askFor(batch);
      if (failure) failures.push(failure);
      if (failure?.retryable) break;
    }
    const known = [...first, ...others].flatMap((token) => {
      const price = answers.get(token)?.price;
      return price ? [[token, price] as const] : [];
    });
    return { prices: new Map(known), failures };
  };
}

function inBatches<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));
}

async function fetchWithRetries(baseUrl: string, batch: readonly Coin[], rules: typeof LIMITS) {
  const url = `${baseUrl.replace(/\/$/, '')}/prices/current/${batch.map(({ coin }) => coin).join(',')}`;
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await fetchPrices(url, rules);
    } catch (error) {
      if (!(error instanceof DefiLlamaError) || !error.retryable || attempt === ATTEMPTS) throw error;
      await pause(error.retryAfterMs ?? rules.retryMs * 2 ** (attempt - 1));
    }
  }
}

async function fetchPrices(url: string, { timeoutMs, maxBytes }: typeof LIMITS): Promise<Map<string, FiatPrice>> {
  const { status, headers, text } = await sendRequest(url, { timeoutMs }).catch((cause) => {
    throw new DefiLlamaError('the price service is unavailable, or its response too large', { retryable: true, cause });
  });
  if (status !== 200) {
    const wait = retryAfterMs(headers);
    throw new DefiLlamaError(`the price service returned ${status}`, {
      retryable: status === 429 || status >= 500,
      retryAfterMs: wait === undefined ? null : Math.min(wait, MAX_RETRY_AFTER_MS),
    });
  }
  const answer = Answer.safeParse(text.length > maxBytes ? null : parseOrNull(text));
  if (!answer.success) throw new DefiLlamaError('the price service returned malformed prices', { retryable: true });
  return toPrices(answer.data);
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
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
