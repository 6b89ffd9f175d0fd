/* What `build.ts` makes dist/packages/ponder/command.mjs of. */
import { version } from 'ponder:package';
import { start } from 'ponder:start';

/** Options of `ponder start`. */
export interface StartOptions {
  /** Folder with its configuration, schema, handlers and API. */
  readonly root: string;
  readonly schema: string;
  readonly hostname: string;
  readonly logLevel: string;
}

/** Does what `ponder start` does, with a log of JSON lines; ends the process when the build of the index fails. */
export const startPonder = (options: StartOptions): Promise<unknown> =>
  start({ cliOptions: { command: 'start', version, config: 'ponder.config.ts', logFormat: 'json', ...options } });
