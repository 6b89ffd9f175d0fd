import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import fc from 'fast-check';
import { seedAddress } from '../harness/seed-pools.ts';
import { CHAIN_A } from '../metadata/listing-fixture.ts';

export const EVM = `/public/v1/evm/${CHAIN_A}`;

export interface Sent {
  readonly target: string;
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
}

export interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

/** Nothing is added to the headers but the host. */
export async function send(base: string, { target, method = 'GET', headers = {} }: Sent): Promise<Answer> {
  const request = httpRequest(`${base}${target}`, { method, headers, agent: false });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return { status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks).toString('base64') };
}

/** What must be equal: all but names, counts and times. */
export function comparable({ status, headers, body }: Answer, sent: Sent) {
  const { ratelimit, 'x-block-age-ms': age, 'x-request-id': name, date, ...others } = headers as Record<string, string>;
  const given = sent.headers?.['x-request-id'];
  return {
    status,
    body,
    headers: others,
    has: [ratelimit?.replace(/[rt]=\d+/g, ''), age?.replace(/^\d+$/, 'milliseconds'), date !== undefined],
    name: name === given ? 'given' : name?.replace(/^[0-9a-f-]{36}$/, 'new'),
  };
}

/** Paths whose pools are written `POOL0` and `POOL1`. */
export const anyTarget = (addressOf: (n: number) => string) =>
  fc
    .record({
      path: fc.oneof(
        { weight: 6, arbitrary: fc.integer({ min: 0, max: 1 }).map((n) => `${EVM}/POOL${n}/bid_ask`) },
        fc.constantFrom(`${EVM}/${seedAddress(1)}/bid_ask`, `${EVM}/0xZZ/bid_ask`, '/public/v1/evm/9/POOL0/bid_ask'),
        { weight: 4, arbitrary: fc.constantFrom(`${EVM}/metadata`, '/public/v1/evm/metadata') },
        fc.constantFrom('/public/v1/nothing', `${EVM}/./POOL0/bid_ask`, `${EVM}/%50OOL0/bid_ask`),
      ),
      query: fc.constantFrom(
        '',
        '',
        '',
        '?depth=false',
        '?depth=false',
        '?depth=true',
        '?',
        '?depth=maybe',
        '?depth=false&depth=true',
        '?other=1',
        '?count=2',
        '?count=2&offset=2',
        '?offset=2&count=2',
        '?count=%32',
        '?count=-1',
        '?minTvlFiat=0&count=5',
      ),
      isUpper: fc.nat(5).map((n) => n === 0),
    })
    .map(({ path, query, isUpper }) => {
      const named = path.replace(/POOL(\d)/, (_, n) => addressOf(Number(n)));
      return `${isUpper && named.endsWith('bid_ask') ? named.replace(/0x\w+/, (hex) => `0x${hex.slice(2).toUpperCase()}`) : named}${query}`;
    });

/** One of the values, or, as often as the weight says, nothing. */
const pick = (weight: number, ...values: readonly string[]) =>
  fc.oneof({ weight, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: fc.constantFrom(...values) });
export const anyHeaders = fc
  .record({
    'accept-encoding': pick(1, 'gzip', 'identity', 'gzip;q=0', '*', 'br', 'br, gzip'),
    authorization: pick(2, 'Bearer good', 'Bearer good', 'Bearer bad', 'Basic good', 'bearer  good'),
    'x-request-id': pick(2, 'mine', 'not one!', 'x'.repeat(300)),
    'if-none-match': pick(2, '*', '"other"', 'TAG', 'W/"other", TAG'),
    origin: pick(2, 'https://example.org'),
    expect: pick(20, '100-continue'),
    'x-forwarded-for': pick(20, '9.9.9.9'),
  })
  .map(
    (all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as OutgoingHttpHeaders,
  );

export const anyMethod = fc.oneof(
  { weight: 8, arbitrary: fc.constant('GET') },
  fc.constantFrom('HEAD', 'POST', 'OPTIONS'),
);
