import type { DecodeEventLogReturnType } from 'viem';
import type { PackedBinSwapped, PackedSwapped, PoolEventOf } from '../../pool-events.ts';
import { commonEvents, lowercase } from '../common-events.ts';
import { readWord, signedHalves, unsignedHalves } from '../words.ts';
import type { packedPoolEvents } from './abi.ts';
import type { DetailsShape } from './interpretations.ts';

/** A swap's `details` by one interpretation. */
export interface SwapDetails {
  readonly zeroForOne: boolean;
  readonly exactInput: boolean;
  /** Cursor after the swap. */
  readonly bin: number;
  readonly position: bigint;
}

type PackedPoolEvent = DecodeEventLogReturnType<typeof packedPoolEvents>;
type PackedArgs<Name extends PackedPoolEvent['eventName']> = Extract<PackedPoolEvent, { eventName: Name }>['args'];

/** Normalises the arguments of one decoded pool event: `packedEvents.Swap(event.args)`. */
export const packedEvents = {
  ...commonEvents,
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
  BinAdditionalFeesUpdated: (args: PackedArgs<'BinAdditionalFeesUpdated'>): PoolEventOf<'binFeesUpdated'> => ({
    kind: 'binFeesUpdated',
    ...args,
  }),
  BidAskRefAsymmetryUpdated: (args: PackedArgs<'BidAskRefAsymmetryUpdated'>): PoolEventOf<'asymmetryUpdated'> => ({
    kind: 'asymmetryUpdated',
    asymmetryX8: args.bidAskRefAsymmetryX8,
  }),
};

/** A swap's `details` as a shape reads them. */
export function readDetails(shape: DetailsShape, details: bigint): SwapDetails {
  const { zeroForOne, exactInput, bin, position } = readWord(shape, details);
  return { zeroForOne: zeroForOne === 1n, exactInput: exactInput === 1n, bin: Number(bin), position };
}
