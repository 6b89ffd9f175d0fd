import { expect, test, vi } from 'vitest';
import { ChainsFile } from './chains-schema.ts';
import { readEnvironment } from './environment.ts';
import { withoutRemovedKeys } from './removed-settings.ts';

/** What is reported meanwhile. A process reports each text once: no two tests have the same. */
function warningsOf(act: () => void): string[] {
  const emitted = vi.spyOn(process, 'emitWarning').mockImplementation(() => undefined);
  try {
    act();
    return emitted.mock.calls.map(([text, name]) => `${name}: ${text}`);
  } finally {
    emitted.mockRestore();
  }
}

test('a removed key is dropped with a warning that names its replacement, and all others stay', () => {
  const chains = [1, 2].map((chainId) => ({ chainId, pollMs: 2, readBudget: { callsPerMinute: 240 } }));
  let kept: unknown;
  const warnings = warningsOf(() => {
    kept = withoutRemovedKeys({ chains, pollMs: 3 });
  });
  // Once, whatever the number of chains.
  expect(warnings).toEqual([
    'ConfigWarning: CHAINS_CONFIG: chains.pollMs is no longer used: the chain is polled when blocks are due',
  ]);
  expect(kept).toEqual({
    chains: [1, 2].map((chainId) => ({ chainId, readBudget: { callsPerMinute: 240 } })),
    pollMs: 3,
  });
});

test('a renamed key keeps its value, with a warning that names the new one', () => {
  let kept: unknown;
  const warnings = warningsOf(() => {
    kept = withoutRemovedKeys({ history: { depthPools: 10 } });
  });
  expect(warnings).toEqual(['ConfigWarning: CHAINS_CONFIG: history.depthPools is now called persistencePools']);
  expect(kept).toEqual({ history: { persistencePools: 10 } });
});

test('a removed environment variable that is set is reported', () => {
  expect(warningsOf(() => readEnvironment([], { API_PROCESSES: '5' }))).toEqual([
    'ConfigWarning: API_PROCESSES is no longer used: start several processes with REUSE_PORT=on',
  ]);
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
