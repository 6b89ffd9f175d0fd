import { once } from 'node:events';
import { expect, test } from 'vitest';
import { readEnvironment } from './environment.ts';
import { parseChainsFile } from './load-chains.ts';

const factory = '0x622911384E7973439b8be305f5e3Fc3c5736EDe4';
const deployment = { contractVersion: 'v1', layout: 'flat', fromBlock: 0, poolFactory: factory };
const chain = {
  chainId: 31337,
  name: 'devnet-a',
  rpcUrls: ['http://127.0.0.1:8545'],
  blockTimeMs: 1000,
  deployments: [deployment],
};

const parse = (value: unknown, env = {}) => parseChainsFile(value, 'chains.json', env);

test('a deployment needs four fields; addresses come out lowercase', () => {
  const [parsed] = parse({ chains: [chain] }).chains;
  expect(parsed?.deployments[0]).toEqual({
    ...deployment,
    poolFactory: factory.toLowerCase(),
    enabled: true,
    anchoredProviderFactories: [],
    providerFactories: [],
  });
  expect(parsed?.multicall3).toBe('0xca11bde05977b3631167028862be2a173976ca11');
});

test('an RPC URL may come from the environment', () => {
  const file = { chains: [{ ...chain, rpcUrls: ['env:RPC_URL_1'] }] };
  expect(parse(file, { RPC_URL_1: 'http://127.0.0.1:1' }).chains[0]?.rpcUrls).toEqual(['http://127.0.0.1:1']);
  expect(() => parse(file)).toThrow('RPC_URL_1 is not set: a URL of chain 31337 comes from it');
  for (const RPC_URL_1 of ['node.example', 'wss://node.example', 'https://me:pw@node.example']) {
    const wrong = 'RPC_URL_1: not an http(s) URL without a user and password, for chain 31337';
    expect(() => parse(file, { RPC_URL_1 })).toThrow(wrong);
  }
});

test('WebSocket URLs may come from the environment, and a chain needs none', () => {
  const file = { chains: [{ ...chain, wsUrls: ['ws://127.0.0.1:1', 'env:WS_URL_1'] }] };
  expect(parse({ chains: [chain] }).chains[0]).not.toHaveProperty('wsUrls');
  expect(parse(file, { WS_URL_1: 'wss://node.example/key' }).chains[0]?.wsUrls).toEqual([
    'ws://127.0.0.1:1',
    'wss://node.example/key',
  ]);
  expect(() => parse(file)).toThrow('WS_URL_1 is not set: a URL of chain 31337 comes from it');
  for (const WS_URL_1 of ['https://node.example', 'wss://me:pw@node.example']) {
    const wrong = 'WS_URL_1: not a ws(s) URL without a user and password, for chain 31337';
    expect(() => parse(file, { WS_URL_1 })).toThrow(wrong);
  }
});

test('without an environment references to it stay', () => {
  const urls = { rpcUrls: ['env:RPC_URL_1'], wsUrls: ['env:WS_URL_1'] };
  expect(parseChainsFile({ chains: [{ ...chain, ...urls }] }, 'test', null).chains[0]).toMatchObject(urls);
});

test.each([
  ['an unsupported layout that is enabled', { deployments: [{ ...deployment, layout: 'other' }] }, /layout/],
  ['an invalid address', { deployments: [{ ...deployment, poolFactory: '0x12' }] }, /poolFactory: not a 20-byte/],
  ['an unknown field', { blockTime: 1 }, /blockTime/],
  ['a socket that is no WebSocket', { wsUrls: ['http://node.example'] }, /wsUrls\.0: not a ws\(s\) URL without/],
  ['no RPC URL', { rpcUrls: [] }, /chains\.0\.rpcUrls/],
  [
    'an RPC URL with a password',
    { rpcUrls: ['http://me:pw@node.example'] },
    /rpcUrls\.0: not an http\(s\) URL without/,
  ],
])('names the field at fault: %s', (_name, change, message) => {
  expect(() => parse({ chains: [{ ...chain, ...change }] })).toThrow(message);
});

test('an unsupported layout may stay in the file while it is disabled', () => {
  const other = { ...deployment, layout: 'other', enabled: false };
  expect(parse({ chains: [{ ...chain, deployments: [other] }] }).chains[0]?.deployments[0]?.enabled).toBe(false);
});

test('a chain cannot be listed twice', () => {
  expect(() => parse({ chains: [chain, chain] })).toThrow('chain 31337 is listed twice');
});

test('keys of static prices compare with lowercase addresses', () => {
  const prices = { [`31337:${factory}`]: 2.5 };
  const file = parse({ chains: [chain], fiatPrices: { source: 'static', prices } });
  expect(file.fiatPrices.prices[`31337:${factory.toLowerCase()}`]).toBe(2.5);
});

test('a missing or malformed setting is named, with what it takes', () => {
  for (const DATABASE_URL of ['', undefined]) {
    const missing = 'DATABASE_URL is not set: Postgres that all processes write to.';
    expect(() => readEnvironment(['DATABASE_URL'], { DATABASE_URL })).toThrow(missing);
  }
  const wrong = {
    DATABASE_URL: ['mysql://x', 'not a postgres:// URL'],
    DATABASE_REPLICA_URL: ['replica', 'not a postgres:// URL'],
    QUEUE_PREFIX: ['A B', 'not a name of lowercase letters, digits, "-" and "_"'],
    PORT: ['70000', 'Too big: expected number to be <=65535'],
    TRUSTED_PROXIES: ['-1', 'Too small: expected number to be >=0'],
    INDEXING_MAX_LAG_SECS: ['soon', 'Invalid input: expected number'],
    LOG_LEVEL: ['loud', 'Invalid option: expected one of "silent"|"fatal"|"error"'],
  } as const;
  for (const [key, [value, expected]] of Object.entries(wrong)) {
    const read = () => readEnvironment([key as keyof typeof wrong], { [key]: value });
    expect(read).toThrow(`${key}: ${expected}`);
    expect(read).not.toThrow(value);
  }
  expect(readEnvironment(['PORT', 'LOG_LEVEL'], { PORT: '3000' })).toEqual({ PORT: 3000, LOG_LEVEL: 'info' });
});

test('a relayer serves chains of kind bsc alone', () => {
  const builders = [{ id: 'b', transport: 'relayer', url: 'wss://relayer.example', apiKeyEnv: 'KEY' }];
  const parseKind = (kind: string) => parse({ chains: [{ ...chain, pamm: { kind, builders } }] });
  expect(parseKind('bsc').chains[0]?.pamm?.builders).toEqual(builders);
  expect(() => parseKind('ethereum')).toThrow(
    /^CHAINS_CONFIG \(.*\): chains\.0\.pamm: the relayer b is for chains of kind bsc only$/,
  );
});

test('a bundle builder at a WebSocket is accepted with a warning: files of before go on loading', async () => {
  const warned = once(process, 'warning');
  const builders = [{ id: 'socket', transport: 'bundle', url: 'wss://builder.example' }];
  expect(parse({ chains: [{ ...chain, pamm: { kind: 'bsc', builders } }] }).chains[0]?.pamm?.builders).toEqual(
    builders,
  );
  const [{ message }] = await warned;
  expect(message).toMatch(/^CHAINS_CONFIG: the URL of builder socket of chain 31337 takes no bundles/);
});

test('a builder URL that may hold a key is accepted with a warning that does not name it', async () => {
  const builders = [{ id: 'b', transport: 'bundle', url: 'https://me:secret@builder.example/?key=secret' }];
  const warned = once(process, 'warning');
  const [parsed] = parse({ chains: [{ ...chain, pamm: { kind: 'bsc', builders } }] }).chains;
  expect(parsed?.pamm?.builders).toEqual(builders);
  const [{ message }] = await warned;
  expect(message).toMatch(/^CHAINS_CONFIG: the URL of builder b of chain 31337 has a user, .* apiKeyEnv$/);
  expect(message).not.toContain('secret');
});
