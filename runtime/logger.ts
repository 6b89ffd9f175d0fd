import { type Logger, pino } from 'pino';
import { hideUrlSecrets } from '../config/url-secrets.ts';
import { RUNNING_VERSION } from './running-version.ts';

export type { Logger };

/** Fields that are never written to a log. Errors of Redis hold their command: a password, or a signed transaction. */
const SECRET_PATHS = ['authorization', 'apiKey', '*.authorization', '*.apiKey', '*.password', 'err.command'];

/**
 * Makes a structured logger on standard error: commands print to standard output. URLs are shortened to their host.
 *
 * @param process name of the process, on every line
 * @param level pino level, `silent` to `trace`
 */
export function createLogger(process: string, level: string): Logger {
  return pino(
    {
      level,
      base: { process },
      redact: { paths: SECRET_PATHS, censor: '[redacted]' },
      // Messages of libraries name the URL that failed, including its secrets.
      hooks: { streamWrite: hideUrlSecrets },
    },
    pino.destination({ fd: 2, sync: true }),
  );
}

/** Logs the running version: the first line of a process whose settings are valid. */
export function logStart(logger: Logger): void {
  logger.info(RUNNING_VERSION, 'starting');
}
