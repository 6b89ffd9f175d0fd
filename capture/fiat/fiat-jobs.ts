import { type CaptureChain, type CaptureDeps, now, poolsOf, wallClock } from '../capture-chain.ts';
import { adaptive, type Job } from '../job.ts';
import { createRegistry } from '../pools/operator-registry.ts';
import { cacheList } from '../read-schedule/cached-list.ts';
import { defiLlamaPrices } from './defillama.ts';
import { type PriceSource, staticPrices } from './price-sources.ts';
import { refreshFiatPrices } from './refresh-prices.ts';
import { readTokensToPrice } from './tokens-to-price.ts';

/** The prices of tokens, US dollars. */
export function fiatJobs(deps: CaptureDeps, chains: readonly CaptureChain[]): Job[] {
  const { file, database, fiatMaxAgeSecs, statusMaxAgeSecs } = deps;
  const registry = createRegistry(file);
  const tokens = cacheList(async () => readTokensToPrice(database, registry, await poolsOf(chains)), now);
  const sources = priceSources(deps);
  const run = () =>
    refreshFiatPrices({ database, registry, tokens, sources, fiatMaxAgeSecs, statusMaxAgeSecs, wallClock });
  return [{ name: 'fiat-prices', run, ...adaptive(5) }];
}

function priceSources({ file: { chains, fiatPrices }, llamaUrl }: CaptureDeps): readonly PriceSource[] {
  const fixed = staticPrices(fiatPrices.prices, wallClock);
  return fiatPrices.source === 'static'
    ? [fixed]
    : [fixed, defiLlamaPrices({ baseUrl: llamaUrl, chains, now, wallClock })];
}
