import { InvalidArgumentError } from 'commander';
import type { Address } from 'viem';
import { HexAddress } from '../config/scalars.ts';

/** Parses a 20-byte address to its one lowercase spelling. */
export function addressArgument(text: string): Address {
  const parsed = HexAddress.safeParse(text);
  if (!parsed.success) throw new InvalidArgumentError('not a 20-byte 0x-prefixed address');
  return parsed.data;
}

export function chainIdArgument(text: string): number {
  if (!/^[1-9]\d{0,15}$/.test(text)) throw new InvalidArgumentError('not a chain id');
  return Number(text);
}

const SECONDS = { s: 1, m: 60, h: 3_600, d: 86_400 } as const;
const MAX_GRACE_SECS = 365 * SECONDS.d;

/** Parses a time such as `90s`, `30m`, `24h` or `7d`, of a year at most, to seconds. */
export function graceArgument(text: string): number {
  const [, amount, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const seconds = Number(amount) * (SECONDS[unit as keyof typeof SECONDS] ?? Number.NaN);
  if (!(seconds <= MAX_GRACE_SECS)) throw new InvalidArgumentError('not a time such as 90s, 30m, 24h or 7d');
  return seconds;
}

/** Parses a day such as `2026-11-25` to its start (UTC), Unix seconds. */
export function dayArgument(text: string): number {
  const ms = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(ms) || formatDay(ms / 1_000) !== text)
    throw new InvalidArgumentError('not a day such as 2026-11-25');
  return ms / 1_000;
}

/** The day (UTC) of a time, such as `2026-11-25`. */
export const formatDay = (unixSecs: number): string => new Date(unixSecs * 1_000).toISOString().slice(0, 10);
