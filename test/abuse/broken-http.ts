import fc from 'fast-check';
import { SQL_INJECTIONS } from './values.ts';
import type { AbuseWorld } from './world.ts';

/** Bytes, one per character, for a connection of their own, which is closed for writing after them. */
export interface BrokenRequest {
  readonly kind: string;
  readonly text: string;
}

const START_LINES = [
  '',
  '\r\n\r\n\r\n',
  'GET',
  'GET /',
  'GET  / HTTP/1.1',
  'GET / HTTP/9.9',
  'GET / HTTP/1.1 x',
  'get / http/1.1',
  'GET / HTTP/0.9',
  'FOO /public/v1/chains HTTP/1.1',
  'CONNECT 127.0.0.1:22 HTTP/1.1',
  'PRI * HTTP/2.0',
  'OPTIONS * HTTP/1.1',
  'GET * HTTP/1.1',
  'GET http://[::1/ HTTP/1.1',
  'GET http://example.org/public/v1/chains HTTP/1.1',
  'GET //public/v1/chains HTTP/1.1',
  'GET \\public HTTP/1.1',
  'GET /public/v1/chains\u0000 HTTP/1.1',
  'GET /public/v1/\u0001\u00ff\u00fe HTTP/1.1',
  'GET /\u00c0\u00ae\u00c0\u00ae/ HTTP/1.1',
  'GET /%zz/%c0%ae HTTP/1.1',
  'GET public/v1/chains HTTP/1.1',
  'GET /public/v1/chains',
  '\u0016\u0003\u0001\u0002\u0000\u0001\u0000',
  'SSH-2.0-x',
  '*1\r\n$4\r\nPING',
];
const HEADER_LINES = [
  'Host: a b',
  'Host:',
  'Host: x\r\nHost: y',
  'Host: evil@127.0.0.1:99999',
  'Host: \u00ff',
  'Host: [::1',
  'Host: x/../y',
  ': no name',
  'No colon',
  'Bad Name: x',
  'X: a\u0000b',
  'X: \u0001',
  'X: a\rb',
  ' folded: x',
  'X : y',
  'X-Forwarded-For: \u00ff',
  `X: ${'a'.repeat(70_000)}`,
  'Content-Length: -1',
  'Content-Length: 1, 2',
  'Content-Length: 1\r\nContent-Length: 2',
  'Content-Length: 99999999999999999999',
  'Content-Length: 0x10',
  'Transfer-Encoding: chunked\r\nContent-Length: 5',
  'Transfer-Encoding: gzip',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: xchunked',
  'Expect: 100-continue',
  'Expect: 200-ok',
  'Upgrade: websocket\r\nConnection: Upgrade',
  'Upgrade: h2c\r\nConnection: Upgrade',
  'Connection: \u0000',
  'Authorization: Bearer \u00ff\u00fe',
  'Authorization: Bearer a\r\nAuthorization: Bearer b',
  'Trailer: X',
  'TE: trailers',
  'Range: bytes=0-1',
];
const BODIES = [
  '',
  'abc',
  '{"pools":',
  '5\r\nabc',
  'zz\r\nabc\r\n',
  '3\r\nabc\r\n0\r\n\r\n',
  '3\r\nabcdef\r\n0\r\n\r\n',
  'ffffffffffffffff\r\nx',
  '-1\r\n\r\n',
  '0\r\nX: y\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n',
  `3;${'e'.repeat(20_000)}\r\nabc\r\n`,
  '\u0000'.repeat(100),
  '3\rabc\n0\n\n',
];

/** What a parser of HTTP must refuse, survive or make sense of. */
export function brokenRequests(world: AbuseWorld): fc.Arbitrary<BrokenRequest> {
  const pool = world.pools[0];
  const lines = [
    'GET /public/v1/chains',
    'GET /public/v1/evm/31337/metadata',
    `GET /public/v1/evm/31337/${pool}/bid_ask?depth=false`,
    'POST /public/v1/evm/31337/bid_ask/batch',
    'POST /public/v1/evm/31337/route',
    'POST /public/v1/evm/31337/pamm-quote',
  ].map((start) => `${start} HTTP/1.1`);
  const goodLine = fc.constantFrom(...lines);
  const header = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...HEADER_LINES) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 30 }).map((text) => `X: ${text}`) },
  );
  const body = fc.constantFrom(...BODIES);
  const malformed = fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
  const of = (kind: string, texts: fc.Arbitrary<string>) => texts.map((text) => ({ kind, text }));
  return fc.oneof(
    of(
      'broken request line',
      fc.constantFrom(...START_LINES).map((line) => `${line}\r\nHost: x\r\n\r\n`),
    ),
    of('broken headers', fc.tuple(goodLine, fc.array(header, { minLength: 1, maxLength: 3 }), body).map(withHeaders)),
    of('broken framing', fc.tuple(goodLine, fc.constantFrom(...FRAMINGS), body).map(withFraming)),
    of('flood of headers', fc.tuple(goodLine, fc.integer({ min: 100, max: 3_000 })).map(flooded)),
    of(
      'cut short',
      fc.tuple(goodLine, header, fc.nat(80)).map(([line, one, end]) => withHeaders([line, [one], '']).slice(0, end)),
    ),
    of('pipelined', fc.array(fc.tuple(goodLine, header), { minLength: 2, maxLength: 40 }).map(pipelined)),
    of(
      'injected line',
      fc
        .constantFrom(...SQL_INJECTIONS)
        .map((sql) => `GET /public/v1/evm/${sql}/metadata HTTP/1.1\r\nHost: ${sql}\r\n\r\n`),
    ),
    of('noise', malformed),
  );
}

const FRAMINGS = ['Content-Length: 10', 'Content-Length: 3', 'Transfer-Encoding: chunked', 'Content-Length: 50000000'];

function withHeaders([line, headers, body]: readonly [string, readonly string[], string]): string {
  return `${[line, 'Host: x', 'Content-Type: application/json', ...headers].join('\r\n')}\r\n\r\n${body}`;
}

function withFraming([line, framing, body]: readonly [string, string, string]): string {
  return withHeaders([line.replace('GET', 'POST'), [framing], body]);
}

function flooded([line, count]: readonly [string, number]): string {
  return withHeaders([line, Array.from({ length: count }, (_, n) => `H${n}: v`), '']);
}

/** Requests one after the other, without waiting; a broken one ends the connection. */
function pipelined(requests: readonly (readonly [string, string])[]): string {
  return requests.map(([line, header], index) => withHeaders([line, index % 5 === 4 ? [header] : [], ''])).join('');
}
