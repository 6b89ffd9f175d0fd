import type { Address } from 'viem';

/** Reads an address in any case, prefix included, and gives it in lowercase; null when it is invalid. */
export function parseAddress(text: string): Address | null {
  const address = text.toLowerCase();
  return /^0x[0-9a-f]{40}$/.test(address) ? (address as Address) : null;
}

/** Lowercase digits of whole bytes of hex, with or without a prefix `0x` or `0X`; null when the text is not hex. */
export function hexDigits(text: string): string | null {
  return /^(?:0x)?((?:[0-9a-f]{2})*)$/.exec(text.toLowerCase())?.[1] ?? null;
}
