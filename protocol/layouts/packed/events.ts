import type { Address, DecodeEventLogReturnType } from 'viem';
import type { BinFeesUpdated } from '../../pool-events.ts';
import type { packedPoolEvents } from './abi.ts';
import { type Halves, readWord, signedHalves, unsignedHalves, type WordShape } from './words.ts';

/** A packed `Swap`: what is certain, and the words that mean something only by a reading. Addresses are lowercase. */
export interface PackedSwapped {
  readonly kind: 'packedSwapped';
  readonly sender: Address;
  readonly recipient: Address;
  /** Raw units, positive into the pool. */
  readonly amount0Delta: bigint;
  readonly amount1Delta: bigint;
  readonly details: bigint;
  /** Scaled; tokens or kinds of fee. */
  readonly platformFees: Halves;
}

/** One bin's part of a packed swap; comes before the `Swap`. */
export interface PackedBinSwapped {
  readonly kind: 'packedBinSwapped';
  readonly bin: number;
  /** Change of the bin's balances, positive into the pool; scaled or raw units. */
  readonly delta0: bigint;
  readonly delta1: bigint;
  /** Scaled; tokens or kinds of fee. */
  readonly fees: Halves;
}

export interface AsymmetryUpdated {
  readonly kind: 'asymmetryUpdated';
  readonly asymmetryX8: number;
}

/** How `details` of a swap are laid out. */
export type DetailsShape = WordShape<'zeroForOne' | 'exactInput' | 'bin' | 'position'>;

/** A swap's `details` by one reading. */
export interface SwapDetails {
  readonly zeroForOne: boolean;
  readonly exactInput: boolean;
  /** Cursor after the swap. */
  readonly bin: number;
  readonly position: bigint;
}

type PackedPoolEvent = DecodeEventLogReturnType<typeof packedPoolEvents>;
type PackedArgs<Name extends PackedPoolEvent['eventName']> = Extract<PackedPoolEvent, { eventName: Name }>['args'];

/** Normalises the arguments of the pool events that differ from the flat layout's, by name. */
export const packedEvents = {
  Swap: ({ sender, recipient, details, amountDeltas, platformFees }: PackedArgs<'Swap'>): PackedSwapped => {
    const { high, low } = signedHalves(amountDeltas);
    return {
      kind: 'packedSwapped',
      sender: lowercase(sender),
      recipient: lowercase(recipient),
      amount0Delta: high,
      amount1Delta: low,
      details,
      platformFees: unsignedHalves(platformFees),
    };
  },
  BinSwapped: ({ binIdx, binDeltas, fees }: PackedArgs<'BinSwapped'>): PackedBinSwapped => {
    const { high, low } = signedHalves(binDeltas);
    return { kind: 'packedBinSwapped', bin: Number(binIdx), delta0: high, delta1: low, fees: unsignedHalves(fees) };
  },
  BinAdditionalFeesUpdated: (args: PackedArgs<'BinAdditionalFeesUpdated'>): BinFeesUpdated => ({
    kind: 'binFeesUpdated',
    ...args,
  }),
  BidAskRefAsymmetryUpdated: (args: PackedArgs<'BidAskRefAsymmetryUpdated'>): AsymmetryUpdated => ({
    kind: 'asymmetryUpdated',
    asymmetryX8: args.bidAskRefAsymmetryX8,
  }),
};

/** A swap's `details` as a shape reads them. */
export function readDetails(shape: DetailsShape, details: bigint): SwapDetails {
  const { zeroForOne, exactInput, bin, position } = readWord(shape, details);
  return { zeroForOne: zeroForOne === 1n, exactInput: exactInput === 1n, bin: Number(bin), position };
}

function lowercase(address: Address): Address {
  return address.toLowerCase() as Address;
}
