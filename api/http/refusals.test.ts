import { Hono } from 'hono';
import { expect, test } from 'vitest';
import { everyRoute } from '../../test/harness/every-route.ts';
import { mountHandlers } from '../../test/harness/mount-handlers.ts';
import { openApiDocument } from '../reference/openapi-document.ts';
import { ROUTES } from '../resources.ts';
import { allowedMethods } from './refusals.ts';

const app = endpoints();
const DOCUMENTED = Object.entries(openApiDocument(ROUTES).paths ?? {});

function endpoints(): Hono {
  const made = new Hono();
  mountHandlers(made, everyRoute());
  return made;
}

test('every documented path takes the methods that the document gives it', () => {
  expect(DOCUMENTED.length).toBeGreaterThan(5);
  for (const [path, operations] of DOCUMENTED) {
    const methods = Object.keys(operations).map((method) => method.toUpperCase());
    const expected = methods.includes('GET') ? [...methods, 'HEAD'] : methods;
    expect([path, allowedMethods(app, path.replaceAll(/\{\w+\}/g, '1'))]).toEqual([path, expected]);
  }
});

test.each(['/', '/public/v1', '/public/v1/evm/1', '/public/v1/chains/', '/public/v1/evm/1/route/x'])(
  'an unknown path takes none: %s',
  (path) => {
    expect(allowedMethods(app, path)).toEqual([]);
  },
);

test('middleware on a wildcard or for all methods gives a path no method', () => {
  const plain = endpoints();
  plain.post('*', (_c, next) => next());
  plain.use('/public/*', (_c, next) => next());
  expect(allowedMethods(plain, '/public/v1/nothing')).toEqual([]);
  expect(allowedMethods(plain, '/public/v1/chains')).toEqual(['GET', 'HEAD']);
});
