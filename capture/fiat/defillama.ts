import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { AppError } from '../../config/app-error.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import { sendRequest } from '../../runtime/http-request.ts';
import type { FiatPrice, PriceSource } from './price-sources.ts';
import { parseTokenKey, type TokenKey } from './token-key.ts';

/**
 * DefiLlama's names of chains, as its coin API takes them in front of a token's address: those of its SDK's provider list,
 * which differ from its web site's (`avax`, not `avalanche`; `hyperliquid` for HyperEVM). Another chain is asked for under
 * its configured name.
 */
export const LLAMA_CHAINS: ReadonlyMap<number, string> = new Map([
  [1, 'ethereum'],
  [10, 'optimism'],
  [56, 'bsc'],
  [137, 'polygon'],
  [143, 'monad'],
  [999, 'hyperliquid'],
  [4326, 'megaeth'],
  [4663, 'robinhood'],
  [8453, 'base'],
  [42161, 'arbitrum'],
  [43114, 'avax'],
]);

export type LlamaOptions = {
  readonly baseUrl: string;
  readonly chains: readonly Pick<ChainConfig, 'chainId' | 'name'>[];
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
};

const TIMEOUT_MS = 8_000;

/** Answers kept, at some 200 bytes. */
const MAX_ANSWERS = 100_000;
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

  constructor(message: string, retryable: boolean, cause?: unknown) {
    super(message, { cause });
    this.retryable = retryable;
  }
}

/**
 * Current prices of DefiLlama's public coin API: tokens in batches, answers kept for a while. Tokens that anyone may have made
 * come last, a few in each call, the one asked for longest ago first. A batch that is rejected does not affect others; when the
 * service fails, the rest is left to the next call.
 */
export function defiLlamaPrices({ baseUrl, chains, limits }: LlamaOptions): PriceSource {
  const { batchSize, cacheMs, unknownMs, unknownPerCall } = { ...LIMITS, ...limits };
  const slugs = new Map(chains.map(({ chainId, name }) => [chainId, LLAMA_CHAINS.get(chainId) ?? name.toLowerCase()]));
  const answers = new LRUCache<TokenKey, { readonly price: FiatPrice | null; readonly at: number }>({
    max: MAX_ANSWERS,
  });
  const requestedAt = (token: TokenKey) => answers.peek(token)?.at ?? Number.NEGATIVE_INFINITY;
  const isDue = (token: TokenKey, forMs: number) => requestedAt(token) + forMs <= performance.now();

  const coinOf = (token: TokenKey): Coin[] => {
    const { chainId, address } = parseTokenKey(token);
    const slug = slugs.get(chainId);
    return slug === undefined ? [] : [{ token, coin: `${encodeURIComponent(slug)}:${address}` }];
  };

  const requestBatch = async (batch: readonly Coin[]): Promise<DefiLlamaError | null> => {
    try {
      const prices = await fetchPrices(baseUrl, batch);
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
      .sort((a, b) => requestedAt(a) - requestedAt(b) || 0);
    const batches = [
      ...inBatches(first.filter((token) => isDue(token, cacheMs)).flatMap(coinOf), batchSize),
      ...inBatches(unknown.flatMap(coinOf).slice(0, unknownPerCall), batchSize),
    ];
    const failures: DefiLlamaError[] = [];
    for (const batch of batches) {
      const failure = await requestBatch(batch);
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

/** Prices by coin. A failed request is not repeated here: the next run comes in seconds. */
async function fetchPrices(baseUrl: string, batch: readonly Coin[]): Promise<Map<string, FiatPrice>> {
  const url = `${baseUrl.replace(/\/$/, '')}/prices/current/${batch.map(({ coin }) => coin).join(',')}`;
  const { status, text } = await sendRequest(url, { timeoutMs: TIMEOUT_MS }).catch((cause) => {
    throw new DefiLlamaError('the price service is unavailable, or its response too large', true, cause);
  });
  if (status !== 200) {
    throw new DefiLlamaError(`the price service returned ${status}`, status === 429 || status >= 500);
  }
  try {
    return toPrices(Answer.parse(JSON.parse(text)));
  } catch (cause) {
    throw new DefiLlamaError('the price service returned malformed prices', true, cause);
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
