import { expect, test } from 'vitest';
import { liveMaxAgeMs } from './live-schema.ts';
import { parseChainsFile } from './load-chains.ts';

const chain = { chainId: 1, name: 'one', rpcUrls: ['http://node'], blockTimeMs: 12_000, deployments: [] };
const parse = (live: unknown, env: Record<string, string> | null = {}) =>
  parseChainsFile({ chains: [{ ...chain, live }] }, 'chains.json', env).chains[0];
const builder = { kind: 'builder-overrides', wsUrls: ['wss://builder/stream'] };

test('a chain needs no live sources', () => {
  expect(parseChainsFile({ chains: [chain] }, 'chains.json', {}).chains[0]).not.toHaveProperty('live');
});

test('a source has one URL or more of either kind, which may come from the environment', () => {
  const sources = [
    { ...builder, apiKeyEnv: 'KEY' },
    { kind: 'relayer', wsUrls: ['env:LIVE_WS'], rpcUrls: ['http://relayer', 'env:LIVE_RPC'] },
    { kind: 'relayer', rpcUrls: ['http://relayer'] },
  ];
  expect(parse({ sources }, { LIVE_WS: 'ws://a', LIVE_RPC: 'https://b' })?.live).toEqual({
    sources: [
      { ...builder, rpcUrls: [], apiKeyEnv: 'KEY' },
      { kind: 'relayer', wsUrls: ['ws://a'], rpcUrls: ['http://relayer', 'https://b'] },
      { kind: 'relayer', wsUrls: [], rpcUrls: ['http://relayer'] },
    ],
  });
  expect(parse({ sources }, null)?.live?.sources[1]).toMatchObject({ wsUrls: ['env:LIVE_WS'] });
  expect(() => parse({ sources })).toThrow('LIVE_WS is not set: a URL of chain 1 comes from it');
  expect(() => parse({ sources }, { LIVE_WS: 'http://a' })).toThrow('LIVE_WS: not a ws(s) URL');
});

test('nodes that follow parts are the only source, and use a part for 600 ms', () => {
  const parts = { kind: 'preconfirmed', rpcUrls: ['https://a', 'env:PART_RPC'] };
  const live = parse({ sources: [parts] }, { PART_RPC: 'https://b' })?.live;
  expect(live?.sources).toEqual([{ ...parts, rpcUrls: ['https://a', 'https://b'], wsUrls: [], maxAgeMs: 600 }]);
  expect(live && liveMaxAgeMs(live, 2_000)).toBe(600);
  expect(() => parse({ sources: [parts, builder] })).toThrow('must be the only one');
  expect(() => parse({ sources: [{ ...parts, rpcUrls: [] }] })).toThrow(/live\.sources\.0\.rpcUrls/);
});

test.each([
  ['no source', { sources: [] }, /chains\.0\.live\.sources: /],
  ['another kind', { sources: [{ ...builder, kind: 'other' }] }, /live\.sources\.0\.kind: /],
  ['no URL', { sources: [{ ...builder, wsUrls: [] }] }, /live\.sources\.0: needs a URL in wsUrls or rpcUrls$/],
  ['an HTTP URL of a socket', { sources: [{ ...builder, wsUrls: ['http://a'] }] }, /0\.wsUrls\.0: not a ws\(s\) URL/],
  ['a password', { sources: [{ ...builder, rpcUrls: ['http://a:b@c'] }] }, /0\.rpcUrls\.0: not an http\(s\) URL/],
  ['a maximum age of 0', { maxAgeMs: 0, sources: [builder] }, /live\.maxAgeMs: /],
  ['an unknown field', { sources: [{ ...builder, key: 'secret' }] }, /live\.sources\.0: .*key/],
])('names the field at fault: %s', (_what, live, message) => {
  expect(() => parse(live)).toThrow(message);
});

test.each([
  [250, 1_000],
  [1_500, 1_000],
  [3_000, 2_000],
  [12_000, 8_000],
  [60_000, 8_000],
])('without a maximum age, blocks of %i ms give one of %i ms', (blockTimeMs, expected) => {
  expect(liveMaxAgeMs({}, blockTimeMs)).toBe(expected);
  expect(liveMaxAgeMs({ maxAgeMs: 5 }, blockTimeMs)).toBe(5);
});
