import { z } from 'zod';
import { ConfigError } from './config-error.ts';
import { warnOfRemovedVariables } from './removed-settings.ts';

const postgresUrl = z.url({ protocol: /^postgres(ql)?$/ });
const redisUrl = z.url({ protocol: /^rediss?$/ });
const LOG_LEVELS = ['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace'] as const;

/**
 * @param expects completes "not ..." in errors
 * @param meaning what `docs/settings.md` says of it
 */
const variable = <T extends z.ZodType>(schema: T, expects: string, meaning: string): T =>
  schema.meta({ description: meaning, expects });
const onOrOff = z.enum(['on', 'off']).default('on');

/** Every environment variable that a process may read. */
export const settings = {
  CHAINS_CONFIG: variable(
    z.string().min(1),
    'the path of a chains file, such as config/mainnet.json',
    'Path of the chains file.',
  ),
  DATABASE_URL: variable(postgresUrl, 'a postgres:// URL', 'Postgres that all processes write to.'),
  DATABASE_SCHEMA: variable(
    z
      .string()
      .regex(/^[a-z_][a-z0-9_]{0,44}$/)
      .default('onchain_1'),
    'a schema name of at most 45 lowercase letters, digits and "_"',
    'Indexer: schema that it writes. Best left unset: the indexer then continues the schema that serves ([indexing](indexing.md#schemas-restarts-and-new-code)).',
  ),
  DATABASE_REPLICA_URL: variable(
    postgresUrl.optional(),
    'a postgres:// URL',
    'API: streaming replica that it reads from when this is set.',
  ),
  REDIS_URL: variable(
    redisUrl,
    'a redis:// or rediss:// URL',
    'API and builders: Redis with an append-only file, or a crash forgets queued updates.',
  ),
  QUEUE_PREFIX: variable(
    z
      .string()
      .regex(/^[a-z0-9_-]+$/)
      .default('pamm'),
    'a name of lowercase letters, digits, "-" and "_"',
    'API and builders: start of all names in Redis. One for all processes of a deployment, another for each deployment on the same Redis.',
  ),
  PAMM_AUDIT_RETENTION_DAYS: variable(
    z.coerce.number().positive().default(30),
    'a number above 0',
    'Builders: days that the audit trail of quote updates is kept.',
  ),
  PAMM_SIMULATION: variable(
    onOrOff,
    '"on" or "off"',
    'Builders: `off` skips the background simulation of live quote updates on Ethereum chains.',
  ),
  INDEXING_MAX_LAG_SECS: variable(
    z.coerce.number().positive().default(30),
    'a number above 0',
    'API: `/ready` returns 503 when the index of a chain has not followed the chain for longer.',
  ),
  FIAT_PRICE_MAX_AGE_SECS: variable(
    z.coerce.number().int().min(1).default(5_400),
    'a whole number from 1',
    'Capture: an older fiat price is ignored, and values that need it become null. DefiLlama updates thinly traded tokens hourly.',
  ),
  DEFILLAMA_URL: variable(
    z.url({ protocol: /^https?$/ }).default('https://coins.llama.fi'),
    'an http:// or https:// URL',
    "Capture: address of DefiLlama's coin API, called when `fiatPrices.source` is `defillama`.",
  ),
  TRUSTED_PROXIES: variable(
    z.coerce.number().int().min(0).default(0),
    'a whole number from 0',
    "API: proxies in front of it, each of which appends to `X-Forwarded-For`: the client's address is that many entries from the right; 0 takes the peer's.",
  ),
  EXPLORER: variable(onOrOff, '"on" or "off"', 'API: `off` serves no web page.'),
  EXPLORER_LOGO: variable(
    z.string().min(1).optional(),
    'the path of an .svg, .png or .ico file',
    'API: path of a picture for the head of the web page, at most 100 kB.',
  ),
  PORT: variable(
    z.coerce.number().int().min(0).max(65_535),
    'a port number from 0 to 65535',
    'Port of the API (3000) and the indexer (42069); of `/health`, `/ready` and `/metrics` of other processes when it is set.',
  ),
  HOST: variable(z.string().min(1).default('0.0.0.0'), 'an address to listen on', 'Interface to listen on.'),
  LOG_LEVEL: variable(
    z.enum(LOG_LEVELS).default('info'),
    `one of ${LOG_LEVELS.join(', ')}`,
    `Least level that is logged: ${LOG_LEVELS.map((level) => `\`${level}\``).join(', ')}.`,
  ),
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
    const expects = settings[key].meta()?.expects;
    throw new ConfigError(value === undefined ? `${key} is not set: it takes ${expects}` : `${key}: not ${expects}`);
  });
  return Object.fromEntries(entries);
}
