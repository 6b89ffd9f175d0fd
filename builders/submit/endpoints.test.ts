import { expect, test } from 'vitest';
import { ChainConfig } from '../../config/chains-schema.ts';
import { chainEndpoints } from './endpoints.ts';

const chainOf = (...urls: string[]) =>
  ChainConfig.parse({
    chainId: 56,
    name: 'bsc',
    rpcUrls: ['http://127.0.0.1:1'],
    blockTimeMs: 1_000,
    deployments: [],
    pamm: { kind: 'bsc', builders: urls.map((url) => ({ id: 'b', transport: 'quote-stream', url })) },
  });

test.each([
  ['wss://eu.builder.example/ws/sendquoteupdate', 'b:wss://eu.builder.example/ws/sendquoteupdate'],
  ['wss://user:pass@word@builder.example/quotes', 'b:wss://builder.example/quotes'],
  ['https://builder.example/?key=a/b@c#d', 'b:https://builder.example/'],
  ['https://builder.example/a@b', 'b:https://builder.example/a@b'],
])('%s is shown as %s, and dialled as it is', (url, provider) => {
  expect(chainEndpoints(chainOf(url), {})).toMatchObject([{ provider, url }]);
});

test('an entry that repeats another one is no endpoint of its own, whose answer would never come', () => {
  const [eu, us] = ['wss://eu.builder.example', 'wss://us.builder.example'] as const;
  expect(chainEndpoints(chainOf(eu, us, eu), {}).map(({ url }) => url)).toEqual([eu, us]);
});

test('endpoints that differ in what is hidden alone are distinguished', () => {
  const endpoints = chainEndpoints(chainOf('https://b.example/?region=eu', 'https://b.example/?region=us'), {});
  expect(new Set(endpoints.map(({ provider }) => provider)).size).toBe(2);
  for (const { provider } of endpoints) expect(provider).toMatch(/^b:https:\/\/b\.example\/#[0-9a-f]{8}$/);
});
