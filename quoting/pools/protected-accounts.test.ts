import { expect, test, vi } from 'vitest';
import { PoolTable } from './pool-directory.ts';
import { protectedAccounts } from './protected-accounts.ts';
import { flatPool, numberedAddress } from './served-pool.fixture.ts';

const [multicall3, guard, prices] = [numberedAddress(90), numberedAddress(91), numberedAddress(92)];
const phases = ['beforeSwap'] as const;

test('a pool of anyone that names the account of others’ prices as its extension does not protect that account', async () => {
  const honest = flatPool(10, { extensions: [{ address: guard, phases, kind: 'stopLoss' }] });
  const hostile = flatPool(11, { extensions: [{ address: prices, phases, kind: 'custom' }] });
  const table = new PoolTable([honest, hostile]);
  const accounts = protectedAccounts({ chainId: 1, multicall3, deployments: [] }, { table: async () => table });
  await vi.waitUntil(accounts);
  expect(accounts()).toEqual(
    new Set([multicall3, ...[10, 1, 2].map(numberedAddress), guard, ...[11, 1, 2].map(numberedAddress)]),
  );
});
