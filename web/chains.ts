import { signal } from '@preact/signals';
import { type Chain, client } from './api.ts';
import { startPolling } from './start-polling.ts';

/** The chains that are served; null until they are known. */
export const chains = signal<readonly Chain[] | null>(null);

const stop = startPolling(async () => {
  chains.value = await client.listChains();
  stop();
}, 2_000);

export const chainNamed = (name: string): Chain | undefined => chains.value?.find((chain) => chain.name === name);
export const chainOf = (chainId: number): Chain | undefined => chains.value?.find((chain) => chain.chainId === chainId);

/** Gives the address of a page of the chain's explorer; undefined when the operator did not configure one. */
export function explorerPage(chainId: number, kind: 'tx' | 'address', hex: string): string | undefined {
  const base = chainOf(chainId)?.explorerUrl;
  // Only https addresses become links, whatever the response says.
  return base?.startsWith('https://') ? `${base}/${kind}/${hex}` : undefined;
}
