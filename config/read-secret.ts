import { readFileSync, statSync } from 'node:fs';
import { ConfigError } from './config-error.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Mode bit: all accounts of the machine may read. */
const OTHERS_READ = 0o004;

/**
 * Reads a secret from the environment: the variable, or the file that `<name>_FILE` names, without white space around.
 * An empty secret counts as unset.
 *
 * @throws ConfigError one line that names the variable: both are set, or the file cannot be read, or others can read it
 */
export function readSecret(name: string, env: Environment): string | undefined {
  const value = env[name] || undefined;
  const path = env[`${name}_FILE`];
  if (!path) return value;
  if (value !== undefined) throw new ConfigError(`${name} and ${name}_FILE are both set: keep one`);
  return readSecretFile(`${name}_FILE`, path) || undefined;
}

function readSecretFile(setting: string, path: string): string {
  try {
    // Windows shows every file as readable by others.
    if (process.platform === 'win32' || (statSync(path).mode & OTHERS_READ) === 0)
      return readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw new ConfigError(`${setting}: cannot read ${path} (${(cause as NodeJS.ErrnoException).code})`, { cause });
  }
  throw new ConfigError(`${setting}: other accounts may read ${path}: chmod o-r`);
}
