import { z } from 'zod';

const hexOf = (bytes: number, name: string) =>
  z
    .string()
    .regex(new RegExp(`^0x[0-9a-fA-F]{${bytes * 2}}$`), `not ${name}`)
    .transform((value) => value.toLowerCase() as `0x${string}`);

/** A 20-byte address, lowercased: one spelling everywhere, so that addresses compare with `===`. */
export const HexAddress = hexOf(20, 'a 20-byte 0x-prefixed address');

/** A 32-byte word, lowercased. */
export const HexBytes32 = hexOf(32, 'a 32-byte 0x-prefixed word');

/** `env:NAME`: the value is taken from the environment variable NAME when the file is loaded. */
export const EnvReference = z.string().regex(/^env:[A-Z][A-Z0-9_]*$/);

/** URL of a node's socket, without a user or a password as {@link RpcUrl}. */
export const WsUrl = z.url({ protocol: /^wss?$/ }).regex(/^wss?:\/\/[^@/?#]+([/?#]|$)/i);

/** URL of a node. `fetch` refuses one that holds a user or a password. */
export const RpcUrl = z.url({ protocol: /^https?$/ }).regex(/^https?:\/\/[^@/?#]+([/?#]|$)/i);
