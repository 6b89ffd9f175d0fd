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
  expect(() => parse(file)).toThrow('RPC_URL_1 is not set: the RPC URL of chain 31337 comes from it');
});

test.each([
  ['an unsupported layout that is enabled', { deployments: [{ ...deployment, layout: 'packed' }] }, /layout/],
  ['an address that is none', { deployments: [{ ...deployment, poolFactory: '0x12' }] }, /poolFactory: not a 20-byte/],
  ['an unknown field', { blockTime: 1 }, /blockTime/],
  ['no RPC URL', { rpcUrls: [] }, /chains\.0\.rpcUrls/],
])('names the field at fault: %s', (_name, change, message) => {
  expect(() => parse({ chains: [{ ...chain, ...change }] })).toThrow(message);
});

test('an unsupported layout may stay in the file while it is disabled', () => {
  const packed = { ...deployment, layout: 'packed', enabled: false };
  expect(parse({ chains: [{ ...chain, deployments: [packed] }] }).chains[0]?.deployments[0]?.enabled).toBe(false);
});

test('a chain cannot be listed twice', () => {
  expect(() => parse({ chains: [chain, chain] })).toThrow('chain 31337 is listed twice');
});

test('keys of static prices compare with lowercase addresses', () => {
  const prices = { [`31337:${factory}`]: 2.5 };
  const file = parse({ chains: [chain], fiatPrices: { source: 'static', prices } });
  expect(file.fiatPrices.prices[`31337:${factory.toLowerCase()}`]).toBe(2.5);
});

test('a missing or malformed setting is named', () => {
  expect(() => readEnvironment(['DATABASE_URL'], {})).toThrow('DATABASE_URL is not set');
  expect(() => readEnvironment(['DATABASE_URL'], { DATABASE_URL: 'mysql://x' })).toThrow(
    'DATABASE_URL: not a postgres',
  );
  expect(readEnvironment(['PORT', 'LOG_LEVEL'], { PORT: '3000' })).toEqual({ PORT: 3000, LOG_LEVEL: 'info' });
});
