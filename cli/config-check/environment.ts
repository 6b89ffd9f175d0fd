import type { ChainConfig } from '../../config/chains-schema.ts';
import { ConfigError } from '../../config/config-error.ts';
import { resolveRpcUrl, resolveWsUrl } from '../../config/load-chains.ts';
import { type Environment, readSecret } from '../../config/read-secret.ts';
import type { Finding, Level } from './finding.ts';

/**
 * Finds variables that a chain names and the environment lacks, and relayers that name no key. A process does not start
 * without a URL; without a key, a builder or source is off.
 *
 * @returns findings, and those URLs of nodes that are known
 */
export function checkEnvironment(
  { chainId, rpcUrls, wsUrls = [], pamm, live }: ChainConfig,
  env: Environment,
): { readonly findings: Finding[]; readonly rpcUrls: readonly string[] } {
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
  const rpc = (url: string) => attempt(() => resolveRpcUrl(url, env, chainId));
  const ws = (url: string) => attempt(() => resolveWsUrl(url, env, chainId));
  const checkKey = (name: string | undefined, owner: string) => {
    if (name === undefined) return;
    const isMissing = attempt(() => readSecret(name, env) === undefined);
    if (isMissing) add('warning', `${name} is not set: ${owner} is off`);
  };

  const known = rpcUrls.map(rpc).filter((url) => url !== undefined);
  wsUrls.forEach(ws);
  for (const { id, transport, apiKeyEnv } of pamm?.builders ?? []) {
    checkKey(apiKeyEnv, `the builder ${id}`);
    if (transport === 'relayer' && apiKeyEnv === undefined)
      add('warning', `the relayer ${id} has no apiKeyEnv: a relayer takes updates with a maker's key only`);
  }
  for (const source of live?.sources ?? []) {
    if (source.kind === 'own') continue;
    source.wsUrls.forEach(ws);
    source.rpcUrls.forEach(rpc);
    if ('apiKeyEnv' in source) checkKey(source.apiKeyEnv, `the live source ${source.kind}`);
  }
  return { findings, rpcUrls: known };
}
