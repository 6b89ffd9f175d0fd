import createClient, { type Client, type ClientOptions, type Middleware } from 'openapi-fetch';
import type { paths } from '../../client/schema.d.ts';
import { parseJson, stringifyJson } from '../../runtime/json.ts';

export type PoolTradingDataClient = Client<paths>;

export type PoolTradingDataClientOptions = {
  /** Trading API key: raises limits, and is needed for quote updates. */
  readonly apiKey?: string | undefined;
  /** Sends requests in place of the global `fetch`. */
  readonly fetch?: NonNullable<ClientOptions['fetch']>;
};

/**
 * A typed client of the API: paths, parameters, bodies and answers are those of the OpenAPI document. Integers stay
 * exact both ways: one above 2^53 - 1 is read as a bigint, and bigints are sent as JSON integers.
 *
 * An answer other than 2xx is no exception: `error` holds its body, `response.status` says which it was. Only a request
 * that got no answer throws, and an answer of 2xx that is no JSON.
 *
 * @param baseUrl origin of the service, such as `http://127.0.0.1:3000`
 * @example
 * const { data, error } = await createPoolTradingDataClient(url).GET('/public/v1/chains');
 */
export function createPoolTradingDataClient(
  baseUrl: string,
  { apiKey, fetch }: PoolTradingDataClientOptions = {},
): PoolTradingDataClient {
  const client = createClient<paths>({
    baseUrl,
    bodySerializer: stringifyJson,
    ...(apiKey !== undefined && { headers: { Authorization: `Bearer ${apiKey}` } }),
    ...(fetch && { fetch }),
  });
  client.use(exactIntegers);
  return client;
}

/** openapi-fetch asks a response of known length for its `json()`, and parses the text of any other by itself. */
const exactIntegers: Middleware = {
  async onResponse({ response }) {
    if (!response.ok) return undefined;
    const text = await response.text();
    const headers = new Headers(response.headers);
    headers.set('Content-Length', String(text.length));
    const { status, statusText } = response;
    const exact = new Response(text, { status, statusText, headers });
    // Defined, not assigned: some frameworks put a Response in the global's place whose methods are read-only.
    return Object.defineProperty(exact, 'json', { value: async () => parseJson(text) });
  },
};
