import { type Logger, pino } from 'pino';
import { hideUrlSecrets } from '../config/url-secrets.ts';
import { RUNNING_VERSION } from './running-version.ts';

export type { Logger };

/** Paths that never reach a log, whatever is logged. */
const SECRET_PATHS = ['authorization', 'apiKey', '*.authorization', '*.apiKey', '*.password'];

/**
 * A structured logger on standard error; standard output is left to what a command prints. URLs are cut to their host.
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
      // Messages of libraries name the URL that failed, whatever is in it.
      hooks: { streamWrite: hideUrlSecrets },
    },
    pino.destination({ fd: 2, sync: true }),
  );
}

/** Logs what runs: the first line of a process whose settings are right. */
export function logStart(logger: Logger): void {
  logger.info(RUNNING_VERSION, 'starting');
}
