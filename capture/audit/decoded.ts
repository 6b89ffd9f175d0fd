import type { Hex } from 'viem';
import type { CallResult } from '../../protocol/bounded-calls/bounded-calls.ts';

/** What a result says; undefined when the call failed, or gave something else. */
export const decoded = <T>(result: CallResult | undefined, decode: (data: Hex) => T): T | undefined =>
  result?.success ? known(() => decode(result.data)) : undefined;

/** Undefined where it throws. */
export function known<T>(decode: () => T): T | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}
