import { expect, test } from 'vitest';
import { compileContracts, readContracts } from '../../devnet/build-contracts.ts';
import { IS_LONG } from './settings.ts';

test.runIf(IS_LONG)(
  'the committed contracts are what the compiler makes of their sources',
  { timeout: 120_000 },
  () => {
    expect(compileContracts()).toEqual(readContracts());
  },
);
