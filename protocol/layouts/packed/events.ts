import type { DecodeEventLogReturnType } from 'viem';
import type { PackedBinSwapped, PackedSwapped, PoolEventOf } from '../../pool-events.ts';
import { commonEvents, lowercase, ofKind } from '../common-events.ts';
import { signedHalves, unsignedHalves } from '../words.ts';
import type { packedPoolEvents } from './abi.ts';

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
  BinAdditionalFeesUpdated: ofKind('binFeesUpdated'),
  BidAskRefAsymmetryUpdated: (args: PackedArgs<'BidAskRefAsymmetryUpdated'>): PoolEventOf<'asymmetryUpdated'> => ({
    kind: 'asymmetryUpdated',
    asymmetryX8: args.bidAskRefAsymmetryX8,
  }),
};
