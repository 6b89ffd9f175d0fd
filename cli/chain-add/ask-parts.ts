import type { ChainConfig } from '../../config/chains-schema.ts';
import type { PartSourceConfig } from '../../config/live-schema.ts';
import { resolveRpcUrl, resolveWsUrl } from '../../config/load-chains.ts';
import { offeredParts } from '../config-check/check-parts.ts';
import { ask } from './ask.ts';

/** URLs as the chains file has them. */
type WrittenUrls = Pick<PartSourceConfig, 'rpcUrls' | 'wsUrls'>;

/** Those of a chain's URLs that follow parts of blocks; null where nothing shows it. */
export async function findParts(
  target: Pick<ChainConfig, 'chainId' | 'multicall3'>,
  { rpcUrls, wsUrls }: WrittenUrls,
): Promise<WrittenUrls | null> {
  const rpc = (url: string) => resolveRpcUrl(url, process.env, target.chainId);
  const ws = (url: string) => resolveWsUrl(url, process.env, target.chainId);
  const found = await offeredParts(target, { rpcUrls: rpcUrls.map(rpc), wsUrls: wsUrls.map(ws) });
  if (!found) return null;
  return {
    rpcUrls: rpcUrls.filter((url) => found.rpcUrls.includes(rpc(url))),
    wsUrls: wsUrls.filter((url) => found.wsUrls.includes(ws(url))),
  };
}

/** The settings of live prices after parts, if the operator wants them. */
export async function askParts(parts: WrittenUrls, isWanted: boolean): Promise<object | undefined> {
  const question = 'The node follows parts of blocks. Quote after each part? (yes/no)';
  const takes = isWanted || (await ask(question, '--parts', String, 'no')) === 'yes';
  return takes ? { sources: [{ kind: 'preconfirmed', ...parts }] } : undefined;
}
