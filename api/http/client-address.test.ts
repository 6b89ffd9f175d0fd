import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import fc from 'fast-check';
import { Hono } from 'hono';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { runs } from '../../test/harness/property-seed.ts';
import { clientAddress, warnOfProxies } from './client-address.ts';

const app = new Hono().get('/:proxies', (c) => c.text(clientAddress(c, Number(c.req.param('proxies')))));
const server = createServer(getRequestListener(app.fetch)).listen(0, '127.0.0.1');
afterAll(() => server.close());

test.each([
  ['the peer without proxies, whatever the header claims', 0, '9.9.9.9', '127.0.0.1'],
  ['the entry that the nearest proxy wrote', 1, '6.6.6.6, 9.9.9.9', '9.9.9.9'],
  ['the entry before it with two proxies', 2, '6.6.6.6, 9.9.9.9, 10.0.0.1', '9.9.9.9'],
  ['the peer when the header is shorter than the chain of proxies', 2, '9.9.9.9', '127.0.0.1'],
  ['an IPv6 network rather than one of its addresses', 1, '2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
  ['the same network in its short spelling', 1, '2001:db8:1:2::1', '2001:db8:1:2'],
  ['a loopback address in short spelling', 1, '::1', '0:0:0:0'],
  ['an IPv4 address written as IPv6', 1, '::ffff:9.9.9.9', '9.9.9.9'],
  ['the same in capitals', 1, '::FFFF:9.9.9.9', '9.9.9.9'],
  ['the same network with leading zeros and capitals', 1, '2001:0DB8:0001:2::1', '2001:db8:1:2'],
  ['an IPv6 network whose address ends like an IPv4 one', 1, '64:ff9b::9.9.9.9', '64:ff9b:0:0'],
  ['an address with the port that a proxy adds', 1, '9.9.9.9:5678', '9.9.9.9'],
  ['an IPv6 address with brackets and port', 1, '[2001:db8:1:2::1]:5678', '2001:db8:1:2'],
  ['the peer when the entry is no address', 1, 'unknown', '127.0.0.1'],
  ['the peer when the entry is empty', 1, '9.9.9.9, ', '127.0.0.1'],
  ['the peer when the entry has too many groups', 1, '1:2:3:4:5:6:7:8::9', '127.0.0.1'],
  ['the peer when the entry is long', 1, 'f'.repeat(8_000), '127.0.0.1'],
])('counts a client under %s', async (_name, proxies, header, expected) => {
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/${proxies}`, { headers: { 'X-Forwarded-For': header } });
  expect(await response.text()).toBe(expected);
});

test('any header gives an address that is short', async () => {
  const { port } = server.address() as AddressInfo;
  const noise = fc.string({ unit: fc.constantFrom(...'0123456789abcdefF:.,[]% ;"'), maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(fc.oneof(noise, fc.ipV6(), fc.ipV4()), fc.integer({ min: 1, max: 3 }), async (header, proxies) => {
      const response = await fetch(`http://127.0.0.1:${port}/${proxies}`, { headers: { 'X-Forwarded-For': header } });
      expect(response.status).toBe(200);
      expect(await response.text()).toMatch(/^([\d.]{7,15}|[\da-f]{1,4}(:[\da-f]{1,4}){3})$/);
    }),
    { numRuns: runs(100) },
  );
});

test.each([
  [0, 1],
  [1, 0],
])('with %i trusted proxies, requests of a proxy give %i warnings', async (proxies, warnings) => {
  const lines: string[] = [];
  const logger = pino({}, { write: (line: string) => lines.push(line) });
  const app = new Hono().use(warnOfProxies(proxies, logger)).get('/', (c) => c.text(''));
  await app.request('/');
  expect(lines).toEqual([]);
  for (let n = 0; n < 3; n += 1) await app.request('/', { headers: { 'X-Forwarded-For': '9.9.9.9' } });
  expect(lines.length).toBe(warnings);
  expect(lines.every((line) => line.includes('TRUSTED_PROXIES'))).toBe(true);
});
