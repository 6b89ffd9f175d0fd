import { Hono } from 'hono';
import { methodNotAllowed } from 'hono/method-not-allowed';
import { expect, test } from 'vitest';
import { everyRoute } from '../../test/harness/every-route.ts';
import { mountHandlers } from '../../test/harness/mount-handlers.ts';
import { openApiDocument } from '../reference/openapi-document.ts';
import { ROUTES } from '../resources.ts';

const app = new Hono();
app.use(methodNotAllowed({ app }), (c, next) => {
  c.set('key', { keyId: 'any', holder: 'any' });
  return next();
});
mountHandlers(app, everyRoute());
const DOCUMENTED = Object.entries(openApiDocument(ROUTES).paths ?? {});

const allowedMethods = async (path: string) =>
  (await app.request(path, { method: 'PROPFIND' })).headers.get('Allow')?.split(', ');

test('every documented path takes the methods that the document gives it', async () => {
  expect(DOCUMENTED.length).toBeGreaterThan(5);
  for (const [path, operations] of DOCUMENTED) {
    const methods = Object.keys(operations).map((method) => method.toUpperCase());
    const expected = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
    expect([path, await allowedMethods(path.replaceAll(/\{\w+\}/g, '1'))]).toEqual([path, expected]);
  }
});

test.each(['/', '/public/v1', '/public/v1/evm/1', '/public/v1/chains/', '/public/v1/evm/1/route/x'])(
  'an unknown path takes none: %s',
  async (path) => {
    expect(await allowedMethods(path)).toBeUndefined();
  },
);
