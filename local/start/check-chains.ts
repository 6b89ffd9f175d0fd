import { execFile } from 'node:child_process';
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
export async function checkChains(
  path: string,
  env: NodeJS.ProcessEnv,
): Promise<Part & { readonly warnings: readonly string[] }> {
  const output = await new Promise<string>((resolve) => {
    // The login of the database is ours to make.
    const options = { cwd: PROJECT_ROOT, env: { ...env, DATABASE_URL: '' } };
    const args = [...ownMain('config-check'), path, '--rpc'];
    execFile(process.execPath, args, options, (_, stdout, stderr) =>
      resolve(`${stdout}${stderr && `error: ${stderr}`}`),
    );
  });
  const linesOf = (level: string) => output.split('\n').filter((line) => line.startsWith(`${level}: `));
  const errors = linesOf('error').map((line) => line.replace('error: ', ''));
  if (errors.length > 0) throw new ConfigError(errors.join('; '));
  const warnings = linesOf('warning');
  return { warnings, note: warnings.length === 0 ? 'no warning' : 'see below', stop: async () => undefined };
}
