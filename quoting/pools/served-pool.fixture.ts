import type { Address } from 'viem';
import { tokenScale } from '../../protocol/scaling.ts';
import type { ServedPool } from './pool-directory.ts';

export const numberedAddress = (number: number): Address => `0x${number.toString(16).padStart(40, '0')}`;

/** The token with this number: `T1`, with 18 decimals. */
export const numberedToken = (number: number) => ({
  address: numberedAddress(number),
  symbol: `T${number}`,
  decimals: 18,
});

/** A flat pool of one bin without extensions, of the tokens 1 and 2, at the address with this number, on chain 1. */
export const flatPool = (number: number, changes: Partial<ServedPool> = {}): ServedPool => ({
  chainId: 1,
  address: numberedAddress(number),
  contractVersion: 'v1',
  layout: 'flat',
  token0: numberedToken(1),
  token1: numberedToken(2),
  pair: 'T1/T2',
  immutables: { lowestBin: 0, highestBin: 0, scale: tokenScale(18, 18) },
  immutableProvider: null,
  extensions: [],
  stopLossMark: 'mean',
  router: null,
  ...changes,
});
