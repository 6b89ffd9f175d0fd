/** A setting is missing or wrong. Its message is one line that names the setting: processes print it and exit with 1. */
export class ConfigError extends Error {
  readonly code = 'CONFIG';
  override readonly name = 'ConfigError';
}
