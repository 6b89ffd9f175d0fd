import type { Hex } from 'viem';
import { z } from 'zod';
import { HexAddress, HexBytes32 } from '../config/scalars.ts';
import type { BlockHeader } from './read-context.ts';

/** A number as nodes write it. */
export const quantity = z
  .string()
  .regex(/^0x[0-9a-fA-F]{1,64}$/)
  .transform(BigInt);

/** A block, or the header of one, as nodes write it. */
export const BlockAnswer = z
  .object({ number: quantity, hash: HexBytes32, timestamp: quantity, parentHash: HexBytes32 })
  .transform(({ parentHash, ...block }): BlockHeader => ({ ...block, parents: [parentHash] }));

/** Reads a block as a node gives it. @throws ZodError for anything else */
export const readBlock = (result: unknown): BlockHeader => BlockAnswer.parse(result);

export const HexData = z
  .string()
  .regex(/^0x([0-9a-fA-F]{2})*$/)
  .transform((data) => data as Hex);

export const LogAnswer = z.object({
  address: HexAddress,
  topics: z.array(HexBytes32),
  data: HexData,
  blockNumber: quantity,
  blockHash: HexBytes32,
  logIndex: quantity.transform(Number),
});

export type ChainLog = z.infer<typeof LogAnswer>;
