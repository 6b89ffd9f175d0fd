import type { Hex } from 'viem';
import type { BlockRef } from '../../chain/read-context.ts';

/** What a client has after the message of an id: quotes of all its pools. */
export interface MessageId {
  /** Of the block. */
  readonly hash: Hex;
  /** Names the pools, and whether the quotes have depth. */
  readonly poolSet: string;
  /**
   * `committed`, or what names live quotes to the process that sent them.
   * Undefined in ids of releases that did not say.
   */
  readonly basis: string | undefined;
}

const FORM = /^\d+-(0x[0-9a-f]{64})-([0-9a-z]+)(?:-(committed|[0-9a-f]+\.\d+))?$/;

export const writeMessageId = ({ number, hash }: BlockRef, poolSet: string, basis: string): string =>
  `${number}-${hash}-${poolSet}-${basis}`;

/** @returns undefined for a text that no message has as its id */
export function readMessageId(id: string): MessageId | undefined {
  const [, hash, poolSet, basis] = FORM.exec(id) ?? [];
  return hash !== undefined && poolSet !== undefined ? { hash: hash as Hex, poolSet, basis } : undefined;
}
