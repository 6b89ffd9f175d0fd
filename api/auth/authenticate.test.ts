import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { sendError, toApiError, tooManyRequests, unavailable } from '../errors.ts';
import { authenticate } from './authenticate.ts';

const TAKERS_PATHS = ['/rpc/1', '/public/v1/evm/1/price_levels', '/public/v1/evm/1/ws/pamm_quote_stream'];
const STRICT_PATHS = ['/public/v1/chains', '/public/v1/evm/1/ws', '/public/v1/evm/1/bid_ask', '/public/rpc/1'];

const app = new Hono()
  .use(
    authenticate(async (key) => {
      if (key === 'late') throw unavailable();
      if (key === 'often') throw tooManyRequests(1_000);
      if (key === 'defect') throw new Error('a defect');
      return key === 'good' ? { keyId: 'k1', holder: 'k1' } : null;
    }, 0),
  )
  .all('*', (c) => c.text(c.get('key')?.keyId ?? 'none'))
  .onError((error, c) => sendError(c, toApiError(error)));

async function ask(path: string, headers: Record<string, string>) {
  const response = await app.request(path, { headers });
  return [response.status, response.ok ? await response.text() : null, response.headers.get('X-Key-Ignored')];
}

test.each(TAKERS_PATHS)('%s takes a key in any of three forms', async (path) => {
  for (const headers of [{ Authorization: 'Bearer good' }, { Authorization: 'good' }, { 'X-Api-Key': 'good' }])
    expect(await ask(path, headers)).toEqual([200, 'k1', null]);
  for (const value of ['', 'Bearer', 'Bearer '])
    expect(await ask(path, { Authorization: value, 'X-Api-Key': 'good' })).toEqual([200, 'k1', null]);
  expect(await ask(path, { Authorization: 'bad', 'X-Api-Key': 'good' })).toEqual([200, 'none', 'unknown']);
  expect(await ask(path, {})).toEqual([200, 'none', null]);
});

test.each(TAKERS_PATHS)('%s serves as without a key when the key is not valid, and says so', async (path) => {
  for (const value of ['Bearer bad', 'bad', 'Bearer ', 'Basic Zzpn', 'good, good', ''])
    expect(await ask(path, { Authorization: value })).toEqual([200, 'none', 'unknown']);
  for (const value of ['bad', '']) expect(await ask(path, { 'X-Api-Key': value })).toEqual([200, 'none', 'unknown']);
  for (const value of ['late', 'often'])
    expect(await ask(path, { Authorization: value })).toEqual([200, 'none', 'unchecked']);
  expect(await ask(path, { Authorization: 'defect' })).toEqual([500, null, null]);
});

test.each(STRICT_PATHS)('%s rejects a key that is not valid, and takes one form alone', async (path) => {
  for (const value of ['Bearer bad', 'good', '']) expect((await ask(path, { Authorization: value }))[0]).toBe(401);
  expect(await ask(path, { Authorization: 'Bearer late' })).toEqual([503, null, null]);
  expect(await ask(path, { 'X-Api-Key': 'good' })).toEqual([200, 'none', null]);
  expect(await ask(path, { Authorization: 'Bearer good' })).toEqual([200, 'k1', null]);
});
