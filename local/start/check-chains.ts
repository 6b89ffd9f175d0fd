import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ConfigError } from '../../config/config-error.ts';
import { PROJECT_ROOT } from '../../runtime/project-root.ts';
import type { Part } from '../processes/supervisor.ts';
import { ownMain } from '../services/own-process.ts';

/**
 * Checks a chains file and its nodes as `npm run config:check -- --rpc` does.
 *
 * @returns its warnings, a line each
 * @throws ConfigError its errors, in one line
 */
export async function checkChains(path: string): Promise<Part & { readonly warnings: readonly string[] }> {
  // The login of the database is ours to make.
  const options = { cwd: PROJECT_ROOT, env: { ...process.env, DATABASE_URL: '' } };
  const checked = promisify(execFile)(process.execPath, [...ownMain('config-check'), path, '--rpc'], options);
  const { stdout, stderr } = await checked.catch((failed: Awaited<typeof checked>) => failed);
  const lines = `${stdout}${stderr && `error: ${stderr}`}`.split('\n');
  const errors = lines.filter((line) => line.startsWith('error: ')).map((line) => line.replace('error: ', ''));
  if (errors.length > 0) throw new ConfigError(errors.join('; '));
  const warnings = lines.filter((line) => line.startsWith('warning: '));
  return { warnings, note: warnings.length === 0 ? 'no warning' : 'see below', stop: async () => undefined };
}
