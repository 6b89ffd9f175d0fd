import fc from 'fast-check';
import { bodies } from './bodies.ts';
import { type Values, values } from './values.ts';
import type { AbuseWorld } from './world.ts';

/** A request that is HTTP, whatever else it is not. */
export interface AbuseRequest {
  readonly kind: string;
  readonly method: string;
  /** Path and query as bytes, one per character. */
  readonly target: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer | null;
}

const CHAINS = [
  '31337',
  '31337',
  '31337',
  '56',
  '1',
  '8453',
  '2',
  '031337',
  '31337.0',
  '-1',
  '1e3',
  'base',
  '9'.repeat(30),
];
const PARAMETERS = [
  'count',
  'offset',
  'sortBy',
  'sortOrder',
  'include24h',
  'minTvlFiat',
  'tier',
  'lockedPricingOnly',
  'addresses',
  'depositAllowlistEnabled',
  'blacklistedOnly',
  'contract_version',
  'fiat',
  'chainIds',
  'depth',
  '__proto__',
  'constructor',
  'count[]',
  'addresses[0]',
  'x',
  '',
  'COUNT',
  'count%00',
];
const ODD_METHODS = ['HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH', 'TRACE', 'PROPFIND', 'SEARCH', 'LINK', 'GET', 'POST'];
const MEDIA_TYPES = [
  'application/json',
  'application/json',
  'application/json; charset=utf-8',
  'APPLICATION/JSON',
  'text/plain',
  '',
  '/',
  'application/jsonp',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json, x/y',
];

/** Requests to every endpoint of the contract, most of them wrong in one or more places. */
export function abuseRequests(world: AbuseWorld): fc.Arbitrary<AbuseRequest> {
  const all = values(world);
  const segment = (usual: fc.Arbitrary<string>) =>
    fc.oneof({ weight: 4, arbitrary: usual }, { weight: 1, arbitrary: all.text }).map(percentEncode);
  const chain = segment(fc.constantFrom(...CHAINS));
  const pool = segment(all.address);
  const evm = '/public/v1/evm';
  const gets = [
    ['chains', fc.constant('/public/v1/chains')],
    ['metadata', chain.map((id) => `${evm}/${id}/metadata`)],
    ['metadata across chains', fc.constant(`${evm}/metadata`)],
    ['bid/ask', fc.tuple(chain, pool).map(([id, address]) => `${evm}/${id}/${address}/bid_ask`)],
    ['no endpoint', segment(all.text).map((text) => `/public/${text}`)],
  ] as const;
  const posts = [
    ['batch', 'batch', chain.map((id) => `${evm}/${id}/bid_ask/batch`)],
    ['route', 'route', chain.map((id) => `${evm}/${id}/route`)],
    ['quote update', 'pamm', chain.map((id) => `${evm}/${id}/pamm-quote`)],
  ] as const;
  const noBody = fc.constant(null);
  const plain = gets.map(([kind, path]) => requestOf(world, all, { kind, method: 'GET', path, body: noBody }));
  const posted = posts.map(([kind, name, path]) =>
    requestOf(world, all, { kind, method: 'POST', path, body: bodies(name, all) }),
  );
  // The endpoint without parameters, and no endpoint at all, soon have nothing new to show.
  const weights = [1, 4, 4, 4, 1, 4, 4, 4];
  return fc.oneof(...[...plain, ...posted].map((arbitrary, index) => ({ weight: weights[index] ?? 1, arbitrary })));
}

interface Shape {
  readonly kind: string;
  readonly method: string;
  readonly path: fc.Arbitrary<string>;
  readonly body: fc.Arbitrary<Buffer | null>;
}

function requestOf(world: AbuseWorld, all: Values, { kind, method, path, body }: Shape): fc.Arbitrary<AbuseRequest> {
  const parameter = fc.tuple(fc.constantFrom(...PARAMETERS), fc.oneof(all.text, all.number, all.address));
  const query = fc
    .array(parameter, { maxLength: 4 })
    .map((pairs) => pairs.map(([name, value]) => `${name}=${percentEncode(value)}`).join('&'));
  return fc
    .record({
      method: fc.oneof(
        { weight: 19, arbitrary: fc.constant(method) },
        { weight: 1, arbitrary: fc.constantFrom(...ODD_METHODS) },
      ),
      path,
      query: fc.oneof({ weight: 2, arbitrary: query }, { weight: 1, arbitrary: fc.constant('') }),
      headers: headers(world, all, kind),
      body,
    })
    .map((parts) => ({
      kind,
      method: parts.method,
      headers: parts.headers,
      body: parts.body,
      target: parts.query === '' ? parts.path : `${parts.path}?${parts.query}`,
    }));
}

function headers(world: AbuseWorld, all: Values, kind: string): fc.Arbitrary<[string, string][]> {
  const bearers = [
    `Bearer ${world.key}`,
    `Bearer ${world.revokedKey}`,
    `bearer  ${world.key}`,
    world.key,
    `Bearer ${world.key}x`,
  ];
  const credential = fc.oneof(
    { weight: kind === 'quote update' ? 12 : 2, arbitrary: fc.constant(`Bearer ${world.key}`) },
    { weight: 1, arbitrary: fc.constantFrom(...bearers, 'Basic Zzpn', 'Bearer', 'Bearer ', 'Bearer a b', 'Digest x=') },
    { weight: 1, arbitrary: fc.stringMatching(/^Bearer ptd_[a-z0-9]{12}_[A-Za-z0-9_-]{43}$/) },
  );
  const text = all.text.map(headerSafe);
  const often = kind === 'quote update' ? 19 : 1;
  return fc
    .record({
      authorization: fc.oneof({ weight: often, arbitrary: credential }, { weight: 5, arbitrary: fc.constant(null) }),
      media: fc.oneof({ weight: 5, arbitrary: fc.constant(MEDIA_TYPES[0]) }, fc.constantFrom(...MEDIA_TYPES)),
      other: fc.option(
        fc.tuple(
          fc.constantFrom(
            'Accept-Encoding',
            'If-None-Match',
            'X-Request-Id',
            'Accept',
            'Origin',
            'Cookie',
            'Content-Encoding',
          ),
          fc.oneof(text, fc.constantFrom('gzip', 'gzip;q=0', 'br, deflate;q=0.1', '*', 'W/"x"', '"', '\u00e9')),
        ),
      ),
      claimed: fc.option(fc.oneof(text, fc.ipV4(), fc.ipV6())),
    })
    .map(({ authorization, media, other, claimed }) => [
      ...(authorization === null ? [] : [['Authorization', authorization] as [string, string]]),
      ...(media === undefined ? [] : [['Content-Type', media] as [string, string]]),
      ...(other === null ? [] : [other as [string, string]]),
      ...(claimed === null ? [] : [['X-Forwarded-For', claimed] as [string, string]]),
    ]);
}

/** Like a client's encoder for the most part: what is an escape already stays one, right or wrong. */
function percentEncode(text: string): string {
  const bytes = Buffer.from(text, 'utf8').toString('latin1');
  return bytes.replace(
    /[^!"$%'-.0->@-~\u0080-\u00ff]/g,
    (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
}

/** What Node's client lets through; the rest of what can be in a header is sent over raw sockets. */
const headerSafe = (text: string): string =>
  Buffer.from(text, 'utf8')
    .toString('latin1')
    .replace(/[^ -~\u0080-\u00ff]/g, '');
