import { z } from 'zod';

export const PositiveInt = z.int().positive();
export const NaturalInt = z.int().nonnegative();
/** A text that is not empty. */
export const Name = z.string().min(1);

/** A natural number as decimal text, as `encodeBigints` writes it: at most a uint64's digits. */
export const IntegerText = z
  .string()
  .regex(/^\d{1,20}$/)
  .transform(BigInt);

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
const EnvReference = z.string().regex(/^env:[A-Z][A-Z0-9_]*$/);

const nodeUrl = (protocol: string, name: string) => {
  const error = `not ${name} URL without a user and password`;
  return z.url({ protocol: new RegExp(`^${protocol}$`), error }).regex(/^\w+:\/\/[^@/?#]+([/?#]|$)/, error);
};

/** URL of a node. `fetch` refuses one that holds a user or a password. */
export const RpcUrl = nodeUrl('https?', 'an http(s)');

/** URL of a node's socket, without a user or a password as {@link RpcUrl}. */
export const WsUrl = nodeUrl('wss?', 'a ws(s)');

/** {@link RpcUrl}, or the environment variable that holds it. */
export const RpcUrlOrEnv = z.union([RpcUrl, EnvReference], {
  error: 'not an http(s) URL without a user and password, nor env:NAME',
});

/** {@link WsUrl}, or the environment variable that holds it. */
export const WsUrlOrEnv = z.union([WsUrl, EnvReference], {
  error: 'not a ws(s) URL without a user and password, nor env:NAME',
});
