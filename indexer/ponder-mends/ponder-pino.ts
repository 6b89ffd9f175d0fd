import { pino as createLogger, destination, type LoggerOptions, stdSerializers } from 'pino';
import { hideUrlSecrets } from '../../runtime/url-secrets.ts';

/**
 * What Ponder makes its logger with: its lines go where those of the other processes go, and show of a URL no more than
 * its host. Ponder logs the whole URL of every call that fails, with the node's key in it.
 */
export const pino = Object.assign(
  (options: LoggerOptions) =>
    createLogger({ ...options, hooks: { streamWrite: hideUrlSecrets } }, destination({ fd: 2, sync: true })),
  { stdSerializers },
);
