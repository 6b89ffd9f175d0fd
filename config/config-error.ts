import { AppError } from './app-error.ts';

/** A setting is missing or wrong. Its message is one line that names the setting: processes print it and exit. */
export class ConfigError extends AppError {
  readonly code: string = 'CONFIG';
  readonly retryable: boolean = false;
}
