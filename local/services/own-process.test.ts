import { execa } from 'execa';
import { expect, onTestFinished, test, vi } from 'vitest';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import { ownEnvironment, ownMain } from './own-process.ts';

test('what a start compiles, the next one finds compiled', async () => {
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv('NODE_COMPILE_CACHE', undefined);
  const env = ownEnvironment('config-check', { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' });
  const start = () =>
    execa(process.execPath, [...ownMain('config-check'), '--help'], { cwd: PROJECT_ROOT, env, extendEnv: false });
  await start();
  expect((await start()).stderr).toContain('dist/config-check.mjs was accepted');
});
