import { expect, test } from 'vitest';
import { CHAINS_FILE } from '../../test/metadata/listing-fixture.ts';
import { listingVersion } from './listing-version.ts';

const version = listingVersion(CHAINS_FILE);

test('the same code and settings give the same version', () => {
  expect(version).toMatch(/^\d+ [0-9a-f]{16}$/);
  const elsewhere = CHAINS_FILE.chains.map((chain) => ({ ...chain, rpcUrls: ['http://127.0.0.1:2'] }));
  expect(listingVersion({ ...CHAINS_FILE, chains: elsewhere })).toBe(version);
});

test.each([
  ['a token', { ...CHAINS_FILE, tokens: [{ chainId: 1, address: `0x${'1'.repeat(40)}`, brandColor: '#123456' }] }],
  ['the name of a chain', { ...CHAINS_FILE, chains: CHAINS_FILE.chains.map((chain) => ({ ...chain, name: 'other' })) }],
  ['the deployments', { ...CHAINS_FILE, chains: CHAINS_FILE.chains.map((chain) => ({ ...chain, deployments: [] })) }],
] as const)('%s makes another version', (_what, file) => {
  expect(listingVersion(file as never)).not.toBe(version);
});
