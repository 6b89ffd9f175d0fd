import { z } from '@hono/zod-openapi';
import { MAX_UINT64 } from '../../protocol/fixed-point.ts';

/** A JSON integer from 0 to 2^64 - 1. The parser gives integers above 2^53 - 1 as bigint. */
export const uint64 = (description: string) =>
  z
    .custom<number | bigint>(isUint64, 'must be an integer from 0 to 2^64 - 1')
    .transform(BigInt)
    .openapi({ type: 'integer', format: 'uint64', description });

function isUint64(value: unknown): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0;
  return typeof value === 'bigint' && value >= 0n && value <= MAX_UINT64;
}
