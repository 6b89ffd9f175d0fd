import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { afterAll, expect, test } from 'vitest';
import { clientAddress } from './client-address.ts';

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
])('counts a client under %s', async (_name, proxies, header, expected) => {
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}/${proxies}`, { headers: { 'X-Forwarded-For': header } });
  expect(await response.text()).toBe(expected);
});
