import { z } from 'zod';
import { ConfigError } from './config-error.ts';
import { type Environment, readSecret } from './read-secret.ts';
import { warnOnce } from './removed-settings.ts';

const PostgresUrl = z.url({ protocol: /^postgres(ql)?$/, error: 'not a postgres:// URL' });
const RedisUrl = z.url({ protocol: /^rediss?$/, error: 'not a redis:// or rediss:// URL' });
const AboveZero = z.coerce.number().positive();
const WholeNumber = z.coerce.number().int();
const OnOrOff = z.enum(['on', 'off']);
const Port = WholeNumber.min(0).max(65_535);
const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

/** Every environment variable that a process may read. */
export const settings = {
  CHAINS_CONFIG: z.string().describe('Path of the chains file.'),
  DATABASE_URL: PostgresUrl.describe('Postgres that all processes write to.'),
  DATABASE_SCHEMA: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,44}$/, 'not a schema name of at most 45 lowercase letters, digits and "_"')
    .default('onchain_1')
    .describe(
      'Indexer: schema that it writes. Best left unset: it then continues the schema that serves ([indexing](../build/indexing.md#schemas-restarts-and-new-code)), and [repairs](operate.md#audit-of-the-index) it.',
    ),
  DATABASE_REPLICA_URL: PostgresUrl.optional().describe('API: streaming replica that it reads from.'),
  REDIS_URL: RedisUrl.describe(
    'API and builders: Redis with an append-only file, or a crash forgets queued updates. Capture shares the live sources of the API when it is set.',
  ),
  QUEUE_PREFIX: z
    .string()
    .regex(/^[a-z0-9_-]+$/, 'not a name of lowercase letters, digits, "-" and "_"')
    .default('pamm')
    .describe('API, builders and capture: start of all names in Redis, another for each deployment on the same Redis.'),
  PAMM_AUDIT_RETENTION_DAYS: AboveZero.default(30).describe(
    'Builders: days that the audit trail of quote updates is kept.',
  ),
  PAMM_SIMULATION: OnOrOff.default('on').describe(
    'Builders: `off` skips the background simulation of live quote updates on Ethereum chains.',
  ),
  INDEXING_MAX_LAG_SECS: AboveZero.default(30).describe(
    'API: `/ready` returns 503 when the index of a chain has not followed the chain for longer.',
  ),
  FIAT_PRICE_MAX_AGE_SECS: WholeNumber.min(1)
    .default(5_400)
    .describe(
      'Capture: an older fiat price is ignored, and values that need it become null. DefiLlama updates some tokens hourly.',
    ),
  DEFILLAMA_URL: z
    .url({ protocol: /^https?$/, error: 'not an http:// or https:// URL' })
    .default('https://coins.llama.fi')
    .describe("Capture: DefiLlama's coin API, called when `fiatPrices.source` is `defillama`."),
  TRUSTED_PROXIES: WholeNumber.min(0)
    .default(0)
    .describe(
      "API: proxies in front of it that append to `X-Forwarded-For`: the client's address is that many entries from the right; 0 takes the peer's.",
    ),
  EXPLORER: OnOrOff.default('on').describe('API: `off` serves no web page.'),
  EXPLORER_LOGO: z.string().optional().describe('API: path of a picture for the head of the web page, at most 100 kB.'),
  /** Each process fills its own default in; this one is for the page. */
  PORT: Port.meta({
    default: 3_000,
    description:
      'Port of the API, of the indexer 4206 by default; of `/health`, `/ready` and `/metrics` of other processes when it is set.',
  }),
  REUSE_PORT: OnOrOff.default('off').describe(
    'API: `on` lets several processes of one machine listen on `PORT`, each with an `OPERATIONS_PORT` of its own.',
  ),
  OPERATIONS_PORT: Port.optional().describe(
    'API: port of `/health`, `/ready` and `/metrics`, which `PORT` then lacks.',
  ),
  HOST: z.string().default('0.0.0.0').describe('Interface to listen on.'),
  LOG_LEVEL: z
    .enum(LOG_LEVELS)
    .default('info')
    .describe(`Least level that is logged: ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}.`),
} as const;

/** The settings that an API process reads. */
export const API_SETTINGS = [
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
] as const satisfies (keyof typeof settings)[];

/** Settings that {@link readSecret} reads, because they contain logins. */
const SECRETS: readonly string[] = [
  'DATABASE_URL',
  'DATABASE_REPLICA_URL',
  'REDIS_URL',
] satisfies (keyof typeof settings)[];

/**
 * Reads the named settings from the environment, secrets also from files. An empty string counts as unset.
 *
 * @throws ConfigError one line that names the setting at fault
 */
export function readEnvironment<K extends keyof typeof settings>(
  keys: readonly K[],
  env: Environment = process.env,
): { [P in K]: z.infer<(typeof settings)[P]> } {
  // Those of release 0.2 that set it would run one process without noticing.
  if (env.API_PROCESSES) warnOnce('API_PROCESSES is no longer used: start several processes with REUSE_PORT=on');
  const entries = keys.map((key) => {
    const value = SECRETS.includes(key) ? readSecret(key, env) : env[key] || undefined;
    const parsed = settings[key].safeParse(value);
    if (parsed.success) return [key, parsed.data];
    if (value === undefined) throw new ConfigError(`${key} is not set: ${settings[key].description}`);
    throw new ConfigError(`${key}: ${parsed.error.issues[0]?.message}`);
  });
  return Object.fromEntries(entries);
}
