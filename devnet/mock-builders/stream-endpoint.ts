import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { bytesToHex } from 'viem';
import {
  type PWebsocketQuoteUpdateV1Args,
  PWebsocketQuoteUpdateV1ArgsSchema,
  PWebsocketQuoteUpdateV1ResponseSchema,
} from '../../builders/proto/generated/quote_update_pb.ts';
import { nowNs } from './behaviour.ts';
import type { SocketProtocol } from './sockets.ts';

/** The quote stream. */
export const QUOTE_STREAM: SocketProtocol = {
  path: '/ws/sendquoteupdate',
  keyHeader: 'authorization',
  receive: (state, frame, _key, connection) => {
    const atNs = nowNs();
    const update = fromBinary(PWebsocketQuoteUpdateV1ArgsSchema, frame);
    if (state.record) state.received.push(describe(update, atNs, connection));
    const error = state.behaviour.kind === 'reject' ? state.behaviour.error : '';
    return () => acknowledgement(update, error);
  },
};

function acknowledgement({ replacementUuid, replacementSeqNumber }: PWebsocketQuoteUpdateV1Args, error: string) {
  const response = create(PWebsocketQuoteUpdateV1ResponseSchema, {
    replacementUuid,
    replacementSeqNumber,
    timestamp: nowNs(),
    error,
  });
  return toBinary(PWebsocketQuoteUpdateV1ResponseSchema, response);
}

function describe(update: PWebsocketQuoteUpdateV1Args, atNs: bigint, connection: number) {
  return {
    atNs: atNs.toString(),
    tx: bytesToHex(update.tx),
    blockNumber: update.blockNumber.toString(),
    replacementUuid: bytesToHex(update.replacementUuid),
    replacementSeqNumber: update.replacementSeqNumber.toString(),
    message: {
      disableCrossRegionSharing: update.disableCrossRegionSharing,
      assetPairs: update.assetPairs.map((pair) => bytesToHex(pair)),
      quoteAddress: bytesToHex(update.quoteAddress),
      poolAddresses: update.poolAddresses.map((pool) => bytesToHex(pool)),
    },
    connection,
  };
}
