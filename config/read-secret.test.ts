import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { chainEndpoints } from '../builders/submit/endpoints.ts';
import { readEnvironment } from './environment.ts';
import { parseChainsFile } from './load-chains.ts';

const folder = mkdtempSync(join(tmpdir(), 'secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));

function secretFile(content: string, mode = 0o440): string {
  const path = join(folder, String(Math.random()));
  writeFileSync(path, content);
  chmodSync(path, mode);
  return path;
}

test('each secret comes from a file that its variable with _FILE names, with white space around or not', () => {
  const urls = { DATABASE_URL: 'postgres://a:b@c/d', DATABASE_REPLICA_URL: 'postgres://e/f', REDIS_URL: 'redis://g' };
  const files = Object.entries(urls).map(([name, url]) => [`${name}_FILE`, secretFile(`${url}\n`)]);
  const keys = ['DATABASE_URL', 'DATABASE_REPLICA_URL', 'REDIS_URL'] as const;
  expect(readEnvironment(keys, Object.fromEntries(files))).toEqual(urls);

  const builder = { id: 'one', transport: 'bundle', url: 'http://builder', apiKeyEnv: 'BUILDER_KEY' };
  const chain = {
    chainId: 1,
    name: 'one',
    blockTimeMs: 1_000,
    deployments: [],
    rpcUrls: ['env:NODE'],
    wsUrls: ['env:SOCKET'],
  };
  const file = {
    chains: [{ ...chain, pamm: { kind: 'ethereum', builders: [builder] } }],
    fiatPrices: { source: 'static' },
  };
  const env = {
    NODE_FILE: secretFile('http://node/secret'),
    SOCKET_FILE: secretFile('ws://node/secret'),
    BUILDER_KEY_FILE: secretFile('builder-secret\n'),
  };
  const [read] = parseChainsFile(file, 'test', env).chains;
  expect(read).toMatchObject({ rpcUrls: ['http://node/secret'], wsUrls: ['ws://node/secret'] });
  expect(read && chainEndpoints(read, env)).toMatchObject([{ apiKey: 'builder-secret' }]);
});

test.each([
  [
    'others may read',
    () => ({ REDIS_URL_FILE: secretFile('redis://secret', 0o604) }),
    /^REDIS_URL_FILE: other accounts may read .*: chmod o-r$/,
  ],
  ['is not there', () => ({ REDIS_URL_FILE: join(folder, 'none') }), /^REDIS_URL_FILE: cannot read .*none \(ENOENT\)$/],
  ['is empty', () => ({ REDIS_URL_FILE: secretFile('\n') }), /^REDIS_URL is not set: /],
  ['has no URL', () => ({ REDIS_URL_FILE: secretFile('secret') }), /^REDIS_URL: not a redis:\/\/ or rediss:\/\/ URL$/],
  [
    'repeats a variable',
    () => ({ REDIS_URL: 'redis://a', REDIS_URL_FILE: secretFile('redis://a') }),
    /^REDIS_URL and REDIS_URL_FILE are both set: keep one$/,
  ],
])('a file that %s is refused, without what is in it', (_what, env, message) => {
  expect(() => readEnvironment(['REDIS_URL'], env())).toThrow(message);
  expect(() => readEnvironment(['REDIS_URL'], env())).not.toThrow(/secret$/);
});

test('other settings are read from no file', () => {
  expect(() => readEnvironment(['CHAINS_CONFIG'], { CHAINS_CONFIG_FILE: secretFile('chains.json') })).toThrow(
    'is not set',
  );
});
