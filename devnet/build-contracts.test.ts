import { expect, test } from 'vitest';
import { contractsDigest, readContracts } from './build-contracts.ts';

test('the committed contracts were compiled from these sources: else run "npm run contracts"', () => {
  expect(readContracts().digest).toBe(contractsDigest());
});
