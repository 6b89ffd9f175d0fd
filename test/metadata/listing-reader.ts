import type { z } from '@hono/zod-openapi';
import { Hono } from 'hono';
import type pg from 'pg';
import { bindRoutes } from '../../api/declaration/api-route.ts';
import { metadataResource } from '../../api/metadata/metadata.ts';
import type { paths } from '../../client/schema.d.ts';
import type { ChainsFile } from '../../config/chains-schema.ts';
import { MetadataPage } from '../../db/listing/pool-record.ts';
import type { PoolTradingDataClient } from '../harness/http-client.ts';
import { inProcessClient } from '../harness/in-process-client.ts';
import { mountHandlers } from '../harness/mount-handlers.ts';

/** Age at which the price status of a listed pool is unknown, in tests. */
export const STATUS_MAX_AGE_SECS = 600;

type QueryOf<P extends '/public/v1/evm/{chain_id}/metadata' | '/public/v1/evm/metadata'> = NonNullable<
  paths[P]['get']['parameters']['query']
>;

export type ListingParams = QueryOf<'/public/v1/evm/{chain_id}/metadata'>;
export type CrossChainParams = QueryOf<'/public/v1/evm/metadata'>;
export type Page = z.output<typeof MetadataPage>;

/** Asks for pages of the listing with the typed client, and checks each against the contract: no field more or less. */
export function listingReader(client: PoolTradingDataClient) {
  return {
    page: async (chainId: number, query: ListingParams = {}): Promise<Page> =>
      checked(
        await client.GET('/public/v1/evm/{chain_id}/metadata', { params: { path: { chain_id: chainId }, query } }),
      ),
    pageAcrossChains: async (query: CrossChainParams = {}): Promise<Page> =>
      checked(await client.GET('/public/v1/evm/metadata', { params: { query } })),
  };
}

/** The listing's endpoint over a database. */
export function readListing(database: pg.Pool, file: ChainsFile): ReturnType<typeof listingReader> {
  const app = new Hono();
  const chains = new Map(file.chains.map((chain) => [chain.chainId, chain]));
  mountHandlers(
    app,
    bindRoutes(metadataResource, {
      chains,
      database,
      statusMaxAgeSecs: STATUS_MAX_AGE_SECS,
      now: () => performance.now(),
    }),
  );
  return listingReader(inProcessClient(app));
}

function checked({ data, error, response }: { data?: unknown; error?: unknown; response: Response }): Page {
  if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(error)}`);
  return MetadataPage.parse(data);
}
