import { z } from 'zod';
import { ConfigError } from './config-error.ts';
import { firstIssue } from './load-chains.ts';

const postgresUrl = z.url({ protocol: /^postgres(ql)?$/, error: 'not a postgres:// URL' });
const redisUrl = z.url({ protocol: /^rediss?$/, error: 'not a redis:// URL' });

/** Every environment variable that a process may read, with its format. `docs/configuration.md` lists them. */
export const settings = {
  CHAINS_CONFIG: z.string().min(1),
  DATABASE_URL: postgresUrl,
  /** Where the indexer writes; readers use the views of schema `live`. */
  DATABASE_SCHEMA: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,44}$/, 'not a schema name of at most 45 lowercase letters, digits and "_"')
    .default('onchain_1'),
  /** Reads of the API go here when it is set. */
  DATABASE_REPLICA_URL: postgresUrl.optional(),
  REDIS_URL: redisUrl,
  /** Start of the names of all queues and keys of quote updates in Redis. */
  QUEUE_PREFIX: z
    .string()
    .regex(/^[a-z0-9_-]+$/, 'has lowercase letters, digits, "-" and "_" only')
    .default('pamm'),
  /** Whether live quote updates of Ethereum chains are simulated in the background. */
  PAMM_SIMULATION: z.enum(['on', 'off']).default('on'),
  PAMM_AUDIT_RETENTION_DAYS: z.coerce.number().positive().default(30),
  /** A price status that was captured longer ago is shown as `unknown`. */
  PRICE_STATUS_MAX_AGE_SECS: z.coerce.number().int().positive().default(60),
  /** The index of a chain counts as stalled when it has not followed the chain for longer than this. */
  INDEXING_MAX_LAG_SECS: z.coerce.number().positive().default(30),
  /** A fiat price that is older counts as none. */
  FIAT_PRICE_MAX_AGE_SECS: z.coerce.number().int().positive().default(5_400),
  /** Address of DefiLlama's coin API. */
  DEFILLAMA_URL: z.url({ protocol: /^https?$/ }).default('https://coins.llama.fi'),
  /** Proxies before the API, each of which appends one entry to `X-Forwarded-For`. */
  TRUSTED_PROXIES: z.coerce.number().int().min(0).default(0),
  /** Opens the operator's pages; they are off without it. */
  OPERATOR_KEY: z.string().min(24, 'a key of the operator has at least 24 characters').optional(),
  PORT: z.coerce.number().int().min(0).max(65535),
  HOST: z.string().min(1).default('0.0.0.0'),
  LOG_LEVEL: z.enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace']).default('info'),
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
  const entries = keys.map((key) => {
    const value = env[key] === '' ? undefined : env[key];
    const parsed = settings[key].safeParse(value);
    if (parsed.success) return [key, parsed.data];
    throw new ConfigError(value === undefined ? `${key} is not set` : `${key}: ${firstIssue(parsed.error)}`);
  });
  return Object.fromEntries(entries);
}
