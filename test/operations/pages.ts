import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';

export const textOf = (path: string) => readFileSync(join(PROJECT_ROOT, path), 'utf8');

/** Files of the project, from its folder. */
export const tracked: readonly string[] = execFileSync(
  'git',
  ['ls-files', '--cached', '--others', '--exclude-standard'],
  {
    cwd: PROJECT_ROOT,
    encoding: 'utf8',
  },
)
  .split('\n')
  .filter((path) => path !== '' && existsSync(join(PROJECT_ROOT, path)));

export const pages = tracked.filter((path) => path.endsWith('.md'));

/** Made from code. */
export const GENERATED: readonly string[] = ['docs/run/settings.md', 'docs/use/totals.md', 'docs/build/invariants.md'];
