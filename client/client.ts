import createClient, { type Client } from 'openapi-fetch';
import type { paths } from './schema.d.ts';

export type PoolTradingDataClient = Client<paths>;

/**
 * A typed client of the API: paths, parameters, bodies and answers are those of the OpenAPI document.
 *
 * @param baseUrl origin of the service, such as `http://127.0.0.1:3000`
 * @param apiKey Trading API key: raises limits, and is needed for quote updates
 * @example
 * const { data, error } = await createPoolTradingDataClient(url).GET('/public/v1/chains');
 */
export function createPoolTradingDataClient(baseUrl: string, apiKey?: string): PoolTradingDataClient {
  return createClient<paths>({ baseUrl, headers: apiKey === undefined ? {} : { Authorization: `Bearer ${apiKey}` } });
}
