/** The settings that an API process reads. */
export const SETTINGS = [
  'CHAINS_CONFIG',
  'DATABASE_URL',
  'DATABASE_REPLICA_URL',
  'REDIS_URL',
  'QUEUE_PREFIX',
  'INDEXING_MAX_LAG_SECS',
  'TRUSTED_PROXIES',
  'EXPLORER',
  'EXPLORER_LOGO',
  'PORT',
  'REUSE_PORT',
  'OPERATIONS_PORT',
  'HOST',
  'LOG_LEVEL',
] as const;
