import { readFileSync } from 'node:fs';
import { ConfigError } from '../config/config-error.ts';

/** Files of Ponder that `patches/` changes. `docs/build/ponder.md` gives the reasons. */
export const PATCHED_FILES = [
  'database/actions.js',
  'database/index.js',
  'runtime/index.js',
  'sync-historical/index.js',
  'sync-realtime/bloom.js',
  'sync-realtime/index.js',
  'runtime/multichain.js',
  'utils/pg.js',
];
/** Each patch leaves this comment in its file. */
const MARK = '// Patched: ';

/**
 * Rejects a Ponder that was installed without our patches, for example by `npm ci --ignore-scripts`.
 *
 * @param ponder URL of Ponder's main module
 * @throws ConfigError one line that names the files that are not patched
 */
export function assertPonderPatched(ponder: string = import.meta.resolve('ponder')): void {
  const unpatched = PATCHED_FILES.filter((file) => !readFileSync(new URL(file, ponder), 'utf8').includes(MARK));
  if (unpatched.length === 0) return;
  throw new ConfigError(
    `Ponder is installed without its patches (${unpatched.join(', ')}): run "npm ci" without --ignore-scripts`,
  );
}
