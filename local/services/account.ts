import { execFileSync } from 'node:child_process';
import { ServiceError } from './service-error.ts';

export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Postgres refuses to run as root. "nobody" is on every Debian, so no account has to be made and left behind. */
const CANDIDATES = ['postgres', 'nobody'];

/**
 * The account that Postgres runs as: undefined means this process's own.
 *
 * @throws ServiceError when this is root and the system has no account to lend
 */
export function postgresAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const account = CANDIDATES.map(lookUp).find((each) => each !== undefined);
  if (account) return account;
  throw new ServiceError(
    `Postgres cannot run as root, and this system has no user ${CANDIDATES.join(' or ')}: add one`,
  );
}

function lookUp(name: string): Account | undefined {
  const id = (flag: '-u' | '-g') => Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }));
  try {
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined; // "id" fails for a name that does not exist: the next candidate is tried.
  }
}
