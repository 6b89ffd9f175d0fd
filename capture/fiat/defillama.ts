import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { AppError } from '../../config/app-error.ts';
import type { ChainConfig } from '../../config/chains-schema.ts';
import type { Clock, Clocks } from '../../runtime/clock.ts';
import { sendRequest } from '../../runtime/http-request.ts';
import { parseTokenKey, type TokenKey } from '../pools/token-key.ts';
import type { FiatPrice, PriceSource } from './price-sources.ts';

/**
 * Names of chains that DefiLlama's coin API takes in front of a token's address. They are those of its SDK's provider
 * list, which differ from its web site's (`avax`, not `avalanche`; `hyperliquid` for HyperEVM). For any other chain, we
 * send the configured name.
 */
export const LLAMA_CHAINS: ReadonlyMap<number, string> = new Map([
  [1, 'ethereum'],
  [10, 'optimism'],
  [56, 'bsc'],
  [137, 'polygon'],
  [143, 'monad'],
  [480, 'wc'],
  [999, 'hyperliquid'],
  [4326, 'megaeth'],
  [4663, 'robinhood'],
  [8453, 'base'],
  [42161, 'arbitrum'],
  [43114, 'avax'],
]);

export type LlamaOptions = Clocks & {
  readonly baseUrl: string;
  readonly chains: readonly Pick<ChainConfig, 'chainId' | 'name'>[];
  /** For tests; the constants below are the defaults. */
  readonly limits?: Partial<typeof LIMITS>;
};

const LIMITS = {
  /**
   * Tokens per request. The path names them all, about 55 characters each, and the service's gateway accepts 10,240
   * bytes of request line and headers.
   */
  batchSize: 80,
  /** How long an answer is cached: the service updates its own every few minutes. */
  cacheMs: 120_000,
  /** How long a missing price is cached for a token of `others`, which anyone can create. */
  unknownMs: 900_000,
  /** Most tokens of `others` that one call requests. */
  unknownPerCall: 400,
};

const TIMEOUT_MS = 8_000;

/** Most cached answers, about 200 bytes each. */
const MAX_ANSWERS = 100_000;
/** Below this the service itself does not trust its price. */
const MIN_CONFIDENCE = 0.8;
/** How far the service's clock may be ahead of ours. A price dated later is ignored: it would become stale too late. */
const MAX_AHEAD_SECS = 300;

/** The service leaves out coins that it does not know, or has not priced for twelve hours. */
const Answer = z.object({ coins: z.record(z.string(), z.unknown()) });

/** A price without a time is ignored. So is `symbol`, which we read from the token itself. */
const PricedCoin = z.object({
  price: z.number().nonnegative().finite(),
  /** Those of the whole token that the price is of, where the service knows them. */
  decimals: z.unknown().optional(),
  /** Time of the price, Unix seconds: most are minutes old, those of thinly traded tokens sometimes an hour or more. */
  timestamp: z.number().positive(),
  /** From 0 to 1; missing where the price was set by hand. */
  confidence: z.number().nullish(),
});

/** A price, and the decimals that it is by; null when not known. */
type LlamaPrice = { readonly price: FiatPrice; readonly decimals: number | null };

/** A token and what the service calls it. */
type Coin = { readonly token: TokenKey; readonly coin: string };

/** The service was unavailable, returned an error status, or returned malformed prices. */
class DefiLlamaError extends AppError {
  readonly code = 'DEFILLAMA';
  readonly retryable: boolean;

  constructor(message: string, retryable: boolean, cause?: unknown) {
    super(message, { cause });
    this.retryable = retryable;
  }
}

/**
 * Makes a source of current prices from DefiLlama's public coin API, which requests tokens in batches and caches
 * answers. Tokens that anyone can create come last: a limited number per call, those requested longest ago first. A
 * rejected batch does not affect other batches. When the service fails, the rest is left to the next call.
 */
export function defiLlamaPrices({ baseUrl, chains, limits, now, wallClock }: LlamaOptions): PriceSource {
  const { batchSize, cacheMs, unknownMs, unknownPerCall } = { ...LIMITS, ...limits };
  const slugs = new Map(chains.map(({ chainId, name }) => [chainId, LLAMA_CHAINS.get(chainId) ?? name.toLowerCase()]));
  const answers = new LRUCache<TokenKey, { readonly price: LlamaPrice | null; readonly at: number }>({
    max: MAX_ANSWERS,
  });
  const requestedAt = (token: TokenKey) => answers.peek(token)?.at ?? Number.NEGATIVE_INFINITY;
  const isDue = (token: TokenKey, forMs: number) => requestedAt(token) + forMs <= now();

  const coinOf = (token: TokenKey): Coin[] => {
    const { chainId, address } = parseTokenKey(token);
    const slug = slugs.get(chainId);
    return slug === undefined ? [] : [{ token, coin: `${encodeURIComponent(slug)}:${address}` }];
  };

  const requestBatch = async (batch: readonly Coin[]): Promise<DefiLlamaError | null> => {
    try {
      const prices = await fetchPrices(baseUrl, batch, wallClock);
      for (const { token, coin } of batch) answers.set(token, { price: prices.get(coin) ?? null, at: now() });
      return null;
    } catch (error) {
      if (!(error instanceof DefiLlamaError)) throw error;
      if (error.retryable) return error;
      // An unpriced token of `others` is not due again soon, so that it displaces no other. The rest is due at once.
      const at = now() - cacheMs;
      for (const { token } of batch) answers.set(token, { price: answers.peek(token)?.price ?? null, at });
      return error;
    }
  };

  return async ({ first, others, decimals }) => {
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
      const priced = answers.get(token)?.price;
      if (!priced) return [];
      // By other decimals than the index has, amounts would be worth powers of ten too much or too little.
      const [indexed, said] = [decimals?.get(token), priced.decimals];
      const areOther = indexed !== undefined && said !== null && said !== indexed;
      return areOther ? [] : [[token, priced.price] as const];
    });
    return { prices: new Map(known), failures };
  };
}

function inBatches<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) => items.slice(n * size, (n + 1) * size));
}

/** Fetches prices by coin. A failed request is not retried here: the next run follows within seconds. */
async function fetchPrices(
  baseUrl: string,
  batch: readonly Coin[],
  wallClock: Clock,
): Promise<Map<string, LlamaPrice>> {
  const url = `${baseUrl.replace(/\/$/, '')}/prices/current/${batch.map(({ coin }) => coin).join(',')}`;
  const { status, text } = await sendRequest(url, { timeoutMs: TIMEOUT_MS }).catch((cause) => {
    throw new DefiLlamaError('the price service is unavailable, or its response too large', true, cause);
  });
  if (status !== 200) {
    throw new DefiLlamaError(`the price service returned ${status}`, status === 429 || status >= 500);
  }
  try {
    return toPrices(Answer.parse(JSON.parse(text)), wallClock());
  } catch (cause) {
    throw new DefiLlamaError('the price service returned malformed prices', true, cause);
  }
}

/**
 * Gives prices by the requested name of the coin, in lower case. A malformed entry is left out and affects no other.
 *
 * @param wallMs now, as Unix milliseconds
 */
function toPrices({ coins }: z.infer<typeof Answer>, wallMs: number): Map<string, LlamaPrice> {
  const prices = new Map<string, LlamaPrice>();
  for (const [name, entry] of Object.entries(coins)) {
    const coin = PricedCoin.safeParse(entry);
    if (!coin.success || (coin.data.confidence ?? 1) < MIN_CONFIDENCE) continue;
    const { price: usd, timestamp, decimals } = coin.data;
    if (timestamp > wallMs / 1000 + MAX_AHEAD_SECS) continue;
    const price = { usd, source: 'defillama', pricedAt: new Date(timestamp * 1000) } as const;
    prices.set(name.toLowerCase(), { price, decimals: typeof decimals === 'number' ? decimals : null });
  }
  return prices;
}
