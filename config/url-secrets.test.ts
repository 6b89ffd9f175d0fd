import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hideUrlSecrets } from './url-secrets.ts';

test.each([
  ['https://mainnet.node.example/v3/0123abcd', 'https://mainnet.node.example'],
  ['a key in the query: https://node.example?key=abc, twice', 'a key in the query: https://node.example twice'],
  ['http://user:p@ss@127.0.0.1:8545/ is unreachable', 'http://127.0.0.1:8545 is unreachable'],
  ['{"url":"postgres://postgres:secret@db:5432/pools","more":1}', '{"url":"postgres://db:5432","more":1}'],
  ['redis://:secret@[::1]:6379/0\nrediss://x:y@z', 'redis://[::1]:6379\nrediss://z'],
  [String.raw`{"msg":"URL: wss://h/path\n\nBody: {\"m\":1}"}`, String.raw`{"msg":"URL: wss://h\n\nBody: {\"m\":1}"}`],
  ['at file:///srv/node_modules/x.js:1:2', 'at file:///srv/node_modules/x.js:1:2'],
])('%s', (text, hidden) => {
  expect(hideUrlSecrets(text)).toBe(hidden);
});

test('whatever a URL holds besides its scheme and host is gone', () => {
  const secret = fc.stringMatching(/^[A-Z]{8,20}$/);
  fc.assert(
    fc.property(fc.domain(), secret, secret, secret, (host, user, path, query) => {
      const text = `calling https://${user}:${path}@${host}/${path}/x?key=${query}#${user} failed`;
      expect(hideUrlSecrets(text)).toBe(`calling https://${host} failed`);
    }),
  );
});
