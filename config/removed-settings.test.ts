import { once } from 'node:events';
import { expect, test } from 'vitest';
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

test('a removed environment variable that is set is reported', async () => {
  const warning = await warningOf(() => warnOfRemovedVariables({ OLD: '5' }, new Map([['OLD', 'use NEW']])));
  expect(warning).toBe('ConfigWarning: OLD is no longer used: use NEW');
});
