import fc from 'fast-check';
import { expect, test } from 'vitest';
import { complete } from './complete-file.ts';

const FACTORY = `0x${'ab'.repeat(20)}`;

test('a null of the file stays, and is reported as another value', () => {
  const file = {
    chains: [{ chainId: 1, explorerUrl: null, deployments: [{ poolFactory: FACTORY, stopLoss: null }] }],
  };
  const found = { chainId: 1, explorerUrl: 'https://x.example', blockTimeMs: 12_000 };
  const { written, left } = complete(file, { ...found, deployments: [{ poolFactory: FACTORY, stopLoss: '0x1' }] });
  expect(file.chains).toEqual([
    { chainId: 1, explorerUrl: null, blockTimeMs: 12_000, deployments: [{ poolFactory: FACTORY, stopLoss: null }] },
  ]);
  expect(written).toEqual(['1.blockTimeMs']);
  expect(left.map(({ key, file: kept }) => [key, kept])).toEqual([
    ['1.explorerUrl', null],
    [`1.deployments.${FACTORY}.stopLoss`, null],
  ]);
});

test('whatever a file has of a chain stays', () => {
  const entry = fc.dictionary(fc.constantFrom('name', 'kind', 'explorerUrl', 'rpcUrls'), fc.jsonValue());
  fc.assert(
    fc.property(entry, entry, (inFile, found) => {
      const chain: Record<string, unknown> = { ...inFile, chainId: 1 };
      complete({ chains: [chain] }, { ...found, chainId: 1, deployments: [] });
      expect(chain).toEqual({ ...found, ...inFile, chainId: 1, deployments: [] });
    }),
  );
});
