import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { hexToBytes } from 'viem';
import {
  PWebsocketQuoteUpdateV1ArgsSchema,
  PWebsocketQuoteUpdateV1ResponseSchema,
} from '../../proto/generated/quote_update_pb.ts';
import type { Hex, QuoteUpdate } from '../../submit/quote-update.ts';
import { type Acknowledgement, acknowledgement, type StreamCodec, updateKey } from './stream-codec.ts';

/** Updates as binary frames of protobuf. */
export const QUOTE_STREAM: StreamCodec = {
  keyHeader: 'authorization',
  hasHttp: false,
  encode: encodeUpdate,
  decode: decodeResponse,
};

/** Encodes an update as a binary frame. An empty `tx` is a cancel. */
export function encodeUpdate(update: QuoteUpdate): Uint8Array {
  const message = create(PWebsocketQuoteUpdateV1ArgsSchema, {
    tx: hexToBytes(update.tx),
    blockNumber: update.blockNumber,
    replacementUuid: hexToBytes(update.replacementUuid),
    replacementSeqNumber: update.replacementSeqNumber,
    disableCrossRegionSharing: update.disableCrossRegionSharing,
    assetPairs: update.assetPairs.map((pair) => hexToBytes(pair)),
    poolAddresses: update.poolAddresses.map((pool) => hexToBytes(pool)),
    ...(update.quoteAddress === undefined ? {} : { quoteAddress: hexToBytes(update.quoteAddress) }),
  });
  return toBinary(PWebsocketQuoteUpdateV1ArgsSchema, message);
}

/**
 * Reads an acknowledgement frame.
 *
 * @throws Error when the frame is not such a message
 */
export function decodeResponse(frame: Uint8Array): Acknowledgement {
  const response = fromBinary(PWebsocketQuoteUpdateV1ResponseSchema, frame);
  const replacementUuid: Hex = `0x${Buffer.from(response.replacementUuid).toString('hex')}`;
  return {
    key: updateKey({ ...response, replacementUuid }),
    answer: acknowledgement(response.error, response.timestamp),
  };
}
