import type { Address } from 'viem';

/** An address of a request in lowercase, whatever the case of its prefix and digits; null when it is invalid. */
export function parseAddress(text: string): Address | null {
  const address = text.toLowerCase();
  return /^0x[0-9a-f]{40}$/.test(address) ? (address as Address) : null;
}

/** The digits of whole bytes of hex in lowercase, without the prefix `0x` or `0X` that they may carry; null for no hex. */
export function hexDigits(text: string): string | null {
  return /^(?:0x)?((?:[0-9a-f]{2})*)$/.exec(text.toLowerCase())?.[1] ?? null;
}
