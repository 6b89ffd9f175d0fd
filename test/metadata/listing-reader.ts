import type { z } from '@hono/zod-openapi';
import type { PoolTradingDataClient } from '../../client/client.ts';
import type { paths } from '../../client/schema.d.ts';
import { MetadataPage } from '../../db/listing/pool-record.ts';

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

function checked({ data, error, response }: { data?: unknown; error?: unknown; response: Response }): Page {
  if (response.status !== 200) throw new Error(`${response.status} ${JSON.stringify(error)}`);
  return MetadataPage.parse(data);
}
