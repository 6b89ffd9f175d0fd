import type { Address } from 'viem';
import { expect, vi } from 'vitest';
import type { z } from 'zod';
import { captureJobs } from '../../capture/capture-jobs.ts';
import type { ChainsFile } from '../../config/chains-schema.ts';
import { parseChainsFile } from '../../config/load-chains.ts';
import { openDatabase } from '../../db/connection.ts';
import type { DataAges } from '../../quoting/pools/chain-catalog.ts';
import { PoolCatalog } from '../../quoting/pools/pool-catalog.ts';
import { createLogger } from '../../runtime/logger.ts';
import { type QuoteApi, quoteApi } from '../quotes/quote-api.ts';
import { type listingReader, readListing, STATUS_MAX_AGE_SECS } from './listing-reader.ts';

/** The scheduled work and the endpoints of one chain in this process, over the database of a running indexer. */
export interface ServedIndex {
  readonly listing: ReturnType<typeof listingReader>;
  readonly quotes: QuoteApi;
  /** How current and complete the data of a chain is, as `/status` has it. */
  readonly ages: (chainId: number) => DataAges;
  /** One round of all work that a status needs. */
  readonly capture: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

type ChainsInput = z.input<typeof ChainsFile>;

const EVENTUALLY = { timeout: 120_000, interval: 500 };
/** Work in an order in which each finds what it needs, by the beginnings of its names. */
const KINDS = ['fiat-prices', 'calibration-', 'guards-', 'price-health-', 'pool-storage-', 'index-audit-', 'listing'];

/** @param chainsFile as the file has it */
export function serveIndex(databaseUrl: string, chainsFile: ChainsInput): ServedIndex {
  const logger = createLogger('test', 'silent');
  const file = parseChainsFile(withAmpleBudget(chainsFile), 'test');
  const [chain] = file.chains;
  if (!chain) throw new RangeError('no chain');
  const database = openDatabase(databaseUrl, 'ptd_api', logger, { max: 4 });
  const { $client: captured } = openDatabase(databaseUrl, 'ptd_capture', logger, { max: 4 });
  const directory = new PoolCatalog({
    database,
    chains: file.chains,
    logger,
    pollMs: 200,
    now: () => performance.now(),
  });
  const ages = { fiatMaxAgeSecs: 900, statusMaxAgeSecs: STATUS_MAX_AGE_SECS };
  const deps = { file, database: captured, ...ages, llamaUrl: 'http://127.0.0.1:1', logger };
  const jobs = captureJobs(deps);
  const inOrder = KINDS.flatMap((kind) => jobs.filter(({ name }) => name.startsWith(kind)));
  return {
    listing: readListing(database.$client, file),
    quotes: quoteApi({ chain, directory }),
    ages: (chainId) => directory.ages(chainId),
    capture: async () => {
      for (const { run } of inOrder) await run();
    },
    stop: async () => {
      directory.stop();
      await Promise.all([database.$client.end(), captured.end()]);
    },
  };
}

/**
 * The listing says of the same pools as quotes with depth that they refuse, and of these as is expected,
 * after some rounds.
 */
export async function expectRejected(
  { listing, quotes, capture }: ServedIndex,
  chainId: number,
  pools: readonly Address[],
  expected: Readonly<Record<Address, boolean>>,
): Promise<void> {
  await vi.waitFor(async () => {
    await capture();
    const { data } = await listing.page(chainId, { addresses: pools.join(), count: pools.length });
    const listed = data.map((pool) => [pool.poolAddress, pool.priceProviderStatus === 'pool_refused']);
    const quoted = (await quotes.results(pools)).map((result) => [
      result.poolAddress,
      'quote' in result && result.quote.priceProviderStatus === 'pool_refused',
    ]);
    expect(Object.fromEntries(listed)).toEqual(Object.fromEntries(quoted));
    expect(Object.fromEntries(listed)).toMatchObject(expected);
  }, EVENTUALLY);
}

/** Tests look more often than a free node bears. */
function withAmpleBudget(chainsFile: ChainsInput): ChainsInput {
  const readBudget = { callsPerMinute: 100_000 };
  return { ...chainsFile, chains: chainsFile.chains.map((chain) => ({ ...chain, readBudget })) };
}
