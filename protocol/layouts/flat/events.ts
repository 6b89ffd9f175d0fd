import type { DecodeEventLogReturnType } from 'viem';
import type { BinSwapped, Swapped } from '../../pool-events.ts';
import { commonEvents, lowercase, ofKind } from '../common-events.ts';
import type { flatPoolEvents } from './pool-abi.ts';

/** A pool event as viem (and so Ponder) decodes it with `flatPoolEvents`. */
type FlatPoolEvent = DecodeEventLogReturnType<typeof flatPoolEvents>;

type FlatArgs<Name extends FlatPoolEvent['eventName']> = Extract<FlatPoolEvent, { eventName: Name }>['args'];

/** Normalises the arguments of one decoded pool event: `flatEvents.Swap(event.args)`. */
export const flatEvents = {
  ...commonEvents,
  BinSwapped: ({ binIdx, delta, lpFeeAmount }: FlatArgs<'BinSwapped'>): BinSwapped => ({
    kind: 'binSwapped',
    bin: Number(binIdx),
    delta0Scaled: delta.delta0Scaled,
    delta1Scaled: delta.delta1Scaled,
    lpFeeScaled: lpFeeAmount,
  }),
  Swap: (args: FlatArgs<'Swap'>): Swapped => ({
    kind: 'swapped',
    sender: lowercase(args.sender),
    recipient: lowercase(args.recipient),
    exactInput: args.exactInput,
    amount0Delta: args.amount0Delta,
    amount1Delta: args.amount1Delta,
    curBin: args.newTick,
    posInBin: args.newPositionInBin,
    protocolFeeScaled: args.protocolFeeAmount,
  }),
  BinAdditionalFeesUpdated: ofKind('binFeesUpdated'),
};
