import { type Address, encodeFunctionData } from 'viem';
import { type Deployment, deployContract } from '../deploy.ts';
import { type DevChain, send } from '../dev-chain.ts';
import type { PricedPair } from '../providers.ts';
import { quoteProviderAbi } from './abi.ts';

/** Q64.64, token1 per whole token0. */
export interface PackedQuote {
  readonly bidX64: bigint;
  readonly askX64: bigint;
  readonly referenceX64: bigint;
}

/** Answers pools in mid-swap only; address 0 as well; or is an extension that its pools should run around swaps. */
export type QuoteProviderKind = 'QuoteProvider' | 'OpenQuoteProvider' | 'ExtensionQuoteProvider';

export async function deployQuoteProvider(
  chain: DevChain,
  { poolFactory }: Pick<Deployment, 'poolFactory'>,
  { token0, token1, kind = 'QuoteProvider' }: PricedPair & { readonly kind?: QuoteProviderKind | undefined },
  quote: PackedQuote,
): Promise<Address> {
  return deployContract(chain, kind, [token0, token1, poolFactory, quote]);
}

/** Sets what a provider answers; a reference of zero means that it has no price. */
export async function setQuote(chain: DevChain, provider: Address, quote: PackedQuote): Promise<void> {
  const data = encodeFunctionData({ abi: quoteProviderAbi, functionName: 'setQuote', args: [quote] });
  await send(chain, { from: chain.roles.owner, to: provider, data });
}
