import { InvalidArgumentError } from 'commander';
import type { Address } from 'viem';
import { HexAddress } from '../config/scalars.ts';

/** Parses a 20-byte address to its one lowercase spelling. */
export function addressArgument(text: string): Address {
  const parsed = HexAddress.safeParse(text);
  if (!parsed.success) throw new InvalidArgumentError('not a 20-byte 0x-prefixed address');
  return parsed.data;
}

export const chainIdArgument = integerArgument(1, 'not a chain id');
export const blockArgument = integerArgument(0, 'not a block number');
/** Milliseconds. */
export const blockTimeArgument = integerArgument(1, 'not a number of milliseconds');

function integerArgument(min: number, problem: string): (text: string) => number {
  return (text) => {
    const number = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
    if (!(number >= min)) throw new InvalidArgumentError(problem);
    return number;
  };
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
