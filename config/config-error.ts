/** A setting is missing or wrong. Its message is one line that names the setting: processes print it and exit. */
export class ConfigError extends Error {
  readonly code = 'CONFIG';
  override readonly name: string = 'ConfigError';
  /** What the process exits with. */
  readonly exitCode: number = 1;
}
