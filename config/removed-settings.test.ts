import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { ChainsFile } from './chains-schema.ts';
import { readEnvironment } from './environment.ts';
import { withoutRemovedKeys } from './removed-settings.ts';

async function warningOf(act: () => void): Promise<string> {
  const warned = once(process, 'warning');
  act();
  const [warning] = await warned;
  return `${warning.name}: ${warning.message}`;
}

test('a removed key is dropped with a warning that names its replacement, and all others stay', async () => {
  const chains = [1, 2].map((chainId) => ({ chainId, readBudget: { callsAtOnce: 2, callsPerMinute: 240 } }));
  const warnings = vi.spyOn(process, 'emitWarning');
  let kept: unknown;
  const warning = await warningOf(() => {
    kept = withoutRemovedKeys({ chains, callsAtOnce: 3 });
  });
  expect(warning).toBe(
    'ConfigWarning: CHAINS_CONFIG: chains.readBudget.callsAtOnce is no longer used: two calls of each kind are made at a time',
  );
  expect(kept).toEqual({
    chains: [1, 2].map((chainId) => ({ chainId, readBudget: { callsPerMinute: 240 } })),
    callsAtOnce: 3,
  });
  // Once, whatever the number of chains.
  expect(warnings).toHaveBeenCalledTimes(1);
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
  const warning = await warningOf(() => readEnvironment([], { API_PROCESSES: '5' }));
  expect(warning).toBe('ConfigWarning: API_PROCESSES is no longer used: start several processes with REUSE_PORT=on');
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
  expect(loaded?.readBudget).toEqual({ callsPerMinute: 100, minFundedUsd: 5, auditCallsPerMinute: 30 });
  expect(loaded?.warmBudget).toEqual({ callsPerMinute: 500 });
});
