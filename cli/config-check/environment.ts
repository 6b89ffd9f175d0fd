import type { ChainConfig } from '../../config/chains-schema.ts';
import { ConfigError } from '../../config/config-error.ts';
import { resolveRpcUrl, resolveWsUrl } from '../../config/load-chains.ts';
import { type Environment, readSecret } from '../../config/read-secret.ts';
import type { Finding, Level } from './finding.ts';

/**
 * Finds variables that a chain names and the environment lacks, and relayers that name no key. A process does not start
 * without a URL; without a key, a builder or source is off.
 *
 * @returns findings, and the chain with those URLs that are known
 */
export function checkEnvironment(
  { rpcUrls, wsUrls = [], live, ...chain }: ChainConfig,
  env: Environment,
): { readonly findings: Finding[]; readonly known: ChainConfig } {
  const { chainId, pamm } = chain;
  const findings: Finding[] = [];
  const add = (level: Level, problem: string) => findings.push({ level, chainId, url: null, problem });
  const attempt = <T>(read: () => T): T | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      add('error', error.message);
      return undefined;
    }
  };
  const isKnown = (url: string | undefined) => url !== undefined;
  const rpc = (urls: readonly string[]) =>
    urls.map((url) => attempt(() => resolveRpcUrl(url, env, chainId))).filter(isKnown);
  const ws = (urls: readonly string[]) =>
    urls.map((url) => attempt(() => resolveWsUrl(url, env, chainId))).filter(isKnown);
  const checkKey = (name: string | undefined, owner: string) => {
    if (name === undefined) return;
    const isMissing = attempt(() => readSecret(name, env) === undefined);
    if (isMissing) add('warning', `${name} is not set: ${owner} is off`);
  };

  const urls = { rpcUrls: rpc(rpcUrls), wsUrls: ws(wsUrls) };
  for (const { id, transport, apiKeyEnv } of pamm?.builders ?? []) {
    checkKey(apiKeyEnv, `the builder ${id}`);
    if (transport === 'relayer' && apiKeyEnv === undefined)
      add('warning', `the relayer ${id} has no apiKeyEnv: a relayer takes updates with a maker's key only`);
  }
  const sources = live?.sources.map((source) => {
    if (source.kind === 'own') return source;
    const known = { ...source, wsUrls: ws(source.wsUrls), rpcUrls: rpc(source.rpcUrls) };
    if ('apiKeyEnv' in source) checkKey(source.apiKeyEnv, `the live source ${source.kind}`);
    return known;
  });
  return { findings, known: { ...chain, ...urls, ...(sources && { live: { ...live, sources } }) } };
}
