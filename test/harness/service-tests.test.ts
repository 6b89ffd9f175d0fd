import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { splitTests } from './service-tests.ts';

test('every test file is in one project, by what it imports', () => {
  const { unit, services } = splitTests(PROJECT_ROOT);
  expect(unit).toContain('protocol/layouts/adapters.test.ts');
  for (const path of [
    'db/migrate.test.ts',
    'devnet/swaps.test.ts',
    'test/route/route.test.ts',
    'test/protocol/quote-onchain.test.ts',
    'cli/commands.test.ts',
    'local/services/watchdog.test.ts',
  ])
    expect(services).toContain(path);
  const all = [...unit, ...services];
  expect(new Set(all).size).toBe(all.length);
});
