import { expect, test } from 'vitest';
import { documentedRoutes } from '../reference/describe.ts';
import { openApiDocument } from '../reference/reference.ts';
import { allowedMethods } from './allowed-methods.ts';

const app = documentedRoutes();
const DOCUMENTED = Object.entries(openApiDocument(app).paths ?? {});

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
  const plain = documentedRoutes();
  plain.post('*', (_c, next) => next());
  plain.use('/public/*', (_c, next) => next());
  expect(allowedMethods(plain, '/public/v1/nothing')).toEqual([]);
  expect(allowedMethods(plain, '/public/v1/chains')).toEqual(['GET', 'HEAD']);
});
