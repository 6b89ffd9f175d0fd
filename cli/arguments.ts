import { InvalidArgumentError } from 'commander';
import { HexAddress } from '../config/scalars.ts';

/** Parses a 20-byte address to its one lowercase spelling. */
export function addressArgument(text: string): string {
  const parsed = HexAddress.safeParse(text);
  if (!parsed.success) throw new InvalidArgumentError('not a 20-byte 0x-prefixed address');
  return parsed.data;
}

export function chainIdArgument(text: string): number {
  if (!/^[1-9]\d{0,15}$/.test(text)) throw new InvalidArgumentError('not a chain id');
  return Number(text);
}
