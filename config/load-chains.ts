import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { type ChainConfig, ChainsFile } from './chains-schema.ts';
import { ConfigError } from './config-error.ts';
import { type Environment, readSecret } from './read-secret.ts';
import { warnOnce, withoutRemovedKeys } from './removed-settings.ts';
import { RpcUrl, WsUrl } from './scalars.ts';
import { withoutSecrets } from './url-secrets.ts';

/** What names the file for processes. */
const SETTING = 'CHAINS_CONFIG';

/**
 * Reads and validates the chains file.
 *
 * @param path value of `CHAINS_CONFIG`
 * @param setting what named the file instead, such as an option
 * @throws ConfigError one line that names the setting, the file and the field at fault
 */
export function loadChainsFile(
  path: string,
  env: Environment | null = process.env,
  setting: string = SETTING,
): ChainsFile {
  return parseChainsFile(readJson(path, setting), path, env, setting);
}

/**
 * {@link loadChainsFile} for a change of the file: also as somebody wrote it. References to the environment stay.
 *
 * @throws ConfigError as {@link loadChainsFile}
 */
export function readWrittenChains(path: string, setting: string) {
  const file = readJson(path, setting) as { chains: Record<string, unknown>[] };
  return { file, chains: parseChainsFile(file, path, null, setting).chains };
}

/**
 * {@link loadChainsFile} for a value that is already in memory; errors call it `name`. Without an environment, `env:`
 * references stay as they are.
 */
export function parseChainsFile(
  value: unknown,
  name: string,
  env: Environment | null = process.env,
  setting: string = SETTING,
): ChainsFile {
  const parsed = ChainsFile.safeParse(withoutRemovedKeys(value));
  if (!parsed.success) throw new ConfigError(`${setting} (${name}): ${firstIssue(parsed.error)}`);
  warnOfBuilders(parsed.data);
  if (env === null) return parsed.data;
  return { ...parsed.data, chains: parsed.data.chains.map((chain) => withResolvedUrls(chain, env)) };
}

/** The chain with each `env:` reference replaced by the URL that it names. */
function withResolvedUrls({ wsUrls, live, ...chain }: ChainConfig, env: Environment): ChainConfig {
  const rpc = (url: string) => resolveRpcUrl(url, env, chain.chainId);
  const ws = (url: string) => resolveWsUrl(url, env, chain.chainId);
  const sources = live?.sources.map((source) =>
    source.kind === 'own' ? source : { ...source, wsUrls: source.wsUrls.map(ws), rpcUrls: source.rpcUrls.map(rpc) },
  );
  return {
    ...chain,
    rpcUrls: chain.rpcUrls.map(rpc),
    ...(wsUrls && { wsUrls: wsUrls.map(ws) }),
    ...(live && sources && { live: { ...live, sources } }),
  };
}

/**
 * The URL of a node, from the environment where it is a reference.
 *
 * @throws ConfigError one line that names the variable: it is not set, or holds no such URL
 */
export const resolveRpcUrl = (url: string, env: Environment, chainId: number | string): string =>
  resolveEnvReference(url, env, RpcUrl, chainId);

/** {@link resolveRpcUrl} for the URL of a socket. */
export const resolveWsUrl = (url: string, env: Environment, chainId: number): string =>
  resolveEnvReference(url, env, WsUrl, chainId);

/** Warns of builder URLs that take no bundles, and of what may be a key: clients do not see it. */
function warnOfBuilders({ chains }: ChainsFile): void {
  for (const { chainId, pamm } of chains) {
    for (const { id, transport, url } of pamm?.builders ?? []) {
      if (transport === 'bundle' && /^ws/i.test(url))
        warnOnce(`CHAINS_CONFIG: the URL of builder ${id} of chain ${chainId} takes no bundles: it has to be http(s)`);
      if (withoutSecrets(url) === url) continue;
      const text = `CHAINS_CONFIG: the URL of builder ${id} of chain ${chainId} has a user, a query or a fragment, which clients and the audit trail do not see: a key belongs in apiKeyEnv`;
      warnOnce(text);
    }
  }
}

function readJson(path: string, setting: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const problem = code
      ? `: cannot read ${path} (${code})`
      : ` (${path}) is not JSON: ${message.replace(/\s+/g, ' ')}`;
    throw new ConfigError(`${setting}${problem}`, { cause });
  }
}

function resolveEnvReference(
  url: string,
  env: Environment,
  schema: z.ZodType<string>,
  chainId: number | string,
): string {
  if (!url.startsWith('env:')) return url;
  const name = url.slice('env:'.length);
  const value = readSecret(name, env);
  if (!value) throw new ConfigError(`${name} is not set: a URL of chain ${chainId} comes from it`);
  const parsed = schema.safeParse(value);
  if (parsed.success) return value;
  throw new ConfigError(`${name}: ${firstIssue(parsed.error)}, for chain ${chainId}`);
}

/** The first problem of a failed parse as `path: message`. */
export function firstIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  if (!issue) return 'invalid';
  return issue.path.length > 0 ? `${issue.path.join('.')}: ${issue.message}` : issue.message;
}
