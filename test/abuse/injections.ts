import type pg from 'pg';
import type { AbuseRequest } from './requests.ts';
import { type AbuseWorld, CHAIN } from './world.ts';

/** A place where a text of the client goes in, and the answer that the contract gives to a text like these there. */
interface Place {
  readonly name: string;
  readonly status: number;
  readonly request: (text: string) => AbuseRequest;
}

const EVM = '/public/v1/evm';
const REJECTED_PARAMETERS = [
  'count',
  'offset',
  'sortBy',
  'sortOrder',
  'include24h',
  'minTvlFiat',
  'tier',
  'lockedPricingOnly',
  'depositAllowlistEnabled',
  'blacklistedOnly',
  'addresses',
  'fiat',
];
const HEADERS = ['X-Request-Id', 'If-None-Match', 'X-Forwarded-For', 'Origin', 'Accept-Encoding'];

/** Every parameter of every endpoint. */
export function injectionPlaces(world: AbuseWorld): readonly Place[] {
  const [pool = ''] = world.pools;
  const [tokenIn = '', tokenOut = ''] = world.tokens;
  const route = { tokenIn, tokenOut, amountIn: '1000', tradeType: 'exact_in', maxRoutes: 1, poolAddress: pool };
  const pamm = {
    tx: '0x',
    blockNumber: 1,
    replacementUuid: `0x${'ab'.repeat(16)}`,
    replacementSeqNumber: 1,
    disableCrossRegionSharing: true,
    responseTimeoutMs: 0,
    maxTimestamp: 1,
    quoteAddress: pool,
    poolAddresses: [pool],
    assetPairs: [],
  };
  const bearer = { Authorization: `Bearer ${world.key}` };
  const texts = ['tx', 'replacementUuid', 'quoteAddress'];
  return [
    ...[`${EVM}/{}/metadata`, `${EVM}/{}/${pool}/bid_ask`].map((path) => inPath(path, 400)),
    inPath(`${EVM}/${CHAIN}/{}/bid_ask`, 400),
    ...REJECTED_PARAMETERS.flatMap((name) => [
      inPath(`${EVM}/${CHAIN}/metadata?${name}={}`, 400),
      inPath(`${EVM}/metadata?${name}={}`, 400),
    ]),
    inPath(`${EVM}/metadata?chainIds={}`, 400),
    inPath(`${EVM}/${CHAIN}/metadata?contract_version={}`, 404),
    inPath(`${EVM}/metadata?contract_version={}`, 404),
    inPath(`${EVM}/${CHAIN}/metadata?{}={}`, 200),
    inPath(`${EVM}/${CHAIN}/${pool}/bid_ask?depth={}`, 400),
    ...['bid_ask/batch', 'route', 'pamm-quote'].map((end) => inPath(`${EVM}/{}/${end}`, 400, 'POST', bearer)),
    ...['pools', 'depth', 'other'].map((field) =>
      inBody({ end: 'bid_ask/batch', body: { pools: [pool], depth: true } }, field, 400),
    ),
    inBody({ end: 'bid_ask/batch', body: {}, value: (text) => [pool, text], name: 'pools[1]' }, 'pools', 400),
    ...Object.keys(route).map((field) => inBody({ end: 'route', body: route }, field, 400)),
    ...Object.keys(pamm).map((field) =>
      inBody({ end: 'pamm-quote', body: pamm, headers: bearer }, field, texts.includes(field) ? 400 : 422),
    ),
    inHeader('Authorization', 401, (text) => text),
    inHeader('Authorization', 401, (text) => `Bearer ${text}`),
    ...HEADERS.map((name) => inHeader(name, 200, (text) => text)),
  ];
}

type Headers = Readonly<Record<string, string>>;

function inPath(template: string, status: number, method = 'GET', headers: Headers = {}): Place {
  return {
    name: `${method} ${template}`,
    status,
    request: (text) => {
      const target = template.replaceAll('{}', () => encodeURIComponent(text));
      return { ...EMPTY, method, target, headers: Object.entries(headers) };
    },
  };
}

interface Posted {
  /** Of the path. */
  readonly end: string;
  readonly body: object;
  readonly headers?: Headers;
  readonly value?: (text: string) => unknown;
  readonly name?: string;
}

function inBody(
  { end, body, headers = {}, value = (text) => text, name }: Posted,
  field: string,
  status: number,
): Place {
  return {
    name: `${end} ${name ?? field}`,
    status,
    request: (text) => ({
      ...EMPTY,
      method: 'POST',
      target: `${EVM}/${CHAIN}/${end}`,
      headers: Object.entries({ 'Content-Type': 'application/json', ...headers }),
      body: Buffer.from(JSON.stringify({ ...body, [field]: value(text) })),
    }),
  };
}

function inHeader(name: string, status: number, value: (text: string) => string): Place {
  return {
    name: `${name}: ${value('...')}`,
    status,
    request: (text) => ({ ...EMPTY, target: '/public/v1/chains', headers: [[name, value(text)]] }),
  };
}

const EMPTY: AbuseRequest = { kind: 'injection', method: 'GET', target: '', headers: [], body: null };

const TABLES = `
  SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
  WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'
    ORDER BY 1`;

/** Every table with a digest of its rows: equal as long as nothing is written. */
export async function fingerprint(database: pg.Pool): Promise<Record<string, string>> {
  const { rows } = await database.query<{ name: string }>(TABLES);
  const digests = rows.map(async ({ name }) => {
    const digest = `SELECT count(*) || ' ' || coalesce(md5(string_agg(t::text, ',' ORDER BY t::text)), '') AS digest FROM ${name} t`;
    return [name, (await database.query<{ digest: string }>(digest)).rows[0]?.digest ?? ''] as const;
  });
  return Object.fromEntries(await Promise.all(digests));
}
