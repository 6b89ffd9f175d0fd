import { z } from 'zod';
import { ConfigError } from './config-error.ts';
import { warnOfRemovedVariables } from './removed-settings.ts';

/** Their descriptions complete "not ..." in errors. */
const postgresUrl = z.url({ protocol: /^postgres(ql)?$/ });
const redisUrl = z.url({ protocol: /^rediss?$/ });
const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

const wholeNumber = (from: number, byDefault: number) =>
  z.coerce.number().int().min(from).default(byDefault).describe(`a whole number from ${from}`);
const positiveNumber = (byDefault: number) =>
  z.coerce.number().positive().default(byDefault).describe('a number above 0');

/** Every environment variable that a process may read, with its format. `docs/configuration.md` lists them. */
export const settings = {
  CHAINS_CONFIG: z.string().min(1).describe('the path of a chains file, such as config/mainnet.json'),
  DATABASE_URL: postgresUrl.describe('a postgres:// URL'),
  /** Where the indexer writes; readers use the views of schema `live`. */
  DATABASE_SCHEMA: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,44}$/)
    .default('onchain_1')
    .describe('a schema name of at most 45 lowercase letters, digits and "_"'),
  /** Reads of the API go here when it is set. */
  DATABASE_REPLICA_URL: postgresUrl.optional().describe('a postgres:// URL'),
  REDIS_URL: redisUrl.describe('a redis:// or rediss:// URL'),
  /** Start of all names in Redis: queues and keys of quote updates, counts of requests. */
  QUEUE_PREFIX: z
    .string()
    .regex(/^[a-z0-9_-]+$/)
    .default('pamm')
    .describe('a name of lowercase letters, digits, "-" and "_"'),
  /** Whether live quote updates of Ethereum chains are simulated in the background. */
  PAMM_SIMULATION: z.enum(['on', 'off']).default('on').describe('"on" or "off"'),
  PAMM_AUDIT_RETENTION_DAYS: positiveNumber(30),
  /** A price status that was captured longer ago is shown as `unknown`. */
  PRICE_STATUS_MAX_AGE_SECS: wholeNumber(1, 60),
  /** The index of a chain counts as stalled when it has not followed the chain for longer than this. */
  INDEXING_MAX_LAG_SECS: positiveNumber(30),
  /** An older fiat price is ignored. */
  FIAT_PRICE_MAX_AGE_SECS: wholeNumber(1, 5_400),
  /** Address of DefiLlama's coin API. */
  DEFILLAMA_URL: z
    .url({ protocol: /^https?$/ })
    .default('https://coins.llama.fi')
    .describe('an http:// or https:// URL'),
  /** Proxies before the API, each of which appends one entry to `X-Forwarded-For`. */
  TRUSTED_PROXIES: wholeNumber(0, 0),
  /** Whether the API serves the web page. */
  EXPLORER: z.enum(['on', 'off']).default('on').describe('"on" or "off"'),
  /** Picture in the head of that page. */
  EXPLORER_LOGO: z.string().min(1).optional().describe('the path of an .svg, .png or .ico file'),
  /** Opens the operator's pages; they are off without it. */
  OPERATOR_KEY: z.string().min(24).optional().describe('a key of at least 24 characters'),
  PORT: z.coerce.number().int().min(0).max(65_535).describe('a port number from 0 to 65535'),
  HOST: z.string().min(1).default('0.0.0.0').describe('an address to listen on'),
  LOG_LEVEL: z
    .enum(LOG_LEVELS)
    .default('info')
    .describe(`one of ${LOG_LEVELS.join(', ')}`),
} as const;

type Settings = typeof settings;

/**
 * Reads the named settings from the environment. An empty string counts as unset.
 *
 * @throws ConfigError one line that names the setting at fault
 */
export function readEnvironment<K extends keyof Settings>(
  keys: readonly K[],
  env: Readonly<Record<string, string | undefined>> = process.env,
): { [P in K]: z.infer<Settings[P]> } {
  warnOfRemovedVariables(env);
  const entries = keys.map((key) => {
    const value = env[key] === '' ? undefined : env[key];
    const parsed = settings[key].safeParse(value);
    if (parsed.success) return [key, parsed.data];
    const expected = settings[key].description;
    throw new ConfigError(value === undefined ? `${key} is not set: it takes ${expected}` : `${key}: not ${expected}`);
  });
  return Object.fromEntries(entries);
}
