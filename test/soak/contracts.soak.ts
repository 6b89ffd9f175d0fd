import { expect, test } from 'vitest';
import { compileContracts, readContracts } from '../../devnet/build-contracts.ts';

test('the committed contracts are what the compiler makes of their sources', { timeout: 120_000 }, () => {
  expect(compileContracts()).toEqual(readContracts());
});
