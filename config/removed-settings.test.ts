import { once } from 'node:events';
import { expect, test } from 'vitest';
import { ChainsFile } from './chains-schema.ts';
import { warnOfRemovedVariables, withoutRemovedKeys } from './removed-settings.ts';

const REMOVED = new Map([['chains.readBudget.callsAtOnce', 'calls are bounded by callsPerMinute']]);

async function warningOf(act: () => void): Promise<string> {
  const warned = once(process, 'warning');
  act();
  const [warning] = await warned;
  return `${warning.name}: ${warning.message}`;
}

test('a removed key is dropped with a warning that names its replacement, and all others stay', async () => {
  const file = { chains: [{ chainId: 1, readBudget: { callsAtOnce: 2, callsPerMinute: 240 } }], callsAtOnce: 3 };
  let kept: unknown;
  const warning = await warningOf(() => {
    kept = withoutRemovedKeys(file, REMOVED);
  });
  expect(warning).toBe(
    'ConfigWarning: CHAINS_CONFIG: chains.readBudget.callsAtOnce is no longer used: calls are bounded by callsPerMinute',
  );
  expect(kept).toEqual({ chains: [{ chainId: 1, readBudget: { callsPerMinute: 240 } }], callsAtOnce: 3 });
});

test('a renamed key keeps its value, with a warning that names the new one', async () => {
  let kept: unknown;
  const warning = await warningOf(() => {
    kept = withoutRemovedKeys({ chains: [{ readBudget: { minWorthUsd: 10 } }] });
  });
  expect(warning).toBe('ConfigWarning: CHAINS_CONFIG: chains.readBudget.minWorthUsd is now called minFundedUsd');
  expect(kept).toEqual({ chains: [{ readBudget: { minFundedUsd: 10 } }] });
});

test('a removed environment variable that is set is reported', async () => {
  const warning = await warningOf(() => warnOfRemovedVariables({ OLD: '5' }, new Map([['OLD', 'use NEW']])));
  expect(warning).toBe('ConfigWarning: OLD is no longer used: use NEW');
});

test('budgets of an old file load, with what is left of them', () => {
  const chain = { chainId: 1, name: 'one', rpcUrls: ['http://127.0.0.1:1'], blockTimeMs: 1_000, deployments: [] };
  const readBudget = {
    callsPerMinute: 100,
    gasPerMinute: 1e9,
    callsAtOnce: 1,
    wantedPct: 5,
    othersPct: 5,
    wantedPools: 1,
    wantedSecs: 1,
    minWorthUsd: 5,
    burnGas: 1,
    firstPauseSecs: 1,
    failedPauseSecs: 1,
    burnedPauseSecs: 1,
    guardPauseSecs: 1,
  };
  const warmBudget = { callsPerMinute: 500, gasPerMinute: 1e9, wantedPct: 5 };
  const file = { chains: [{ ...chain, readBudget, warmBudget }], capture: { restPerWork: 4, listUsePerRead: 100 } };
  const [loaded] = ChainsFile.parse(withoutRemovedKeys(file)).chains;
  expect(loaded?.readBudget).toEqual({ callsPerMinute: 100, minFundedUsd: 5 });
  expect(loaded?.warmBudget).toEqual({ callsPerMinute: 500 });
});
