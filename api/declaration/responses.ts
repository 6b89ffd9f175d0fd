import { type RouteConfig, z } from '@hono/zod-openapi';
import { BASES } from '../../quoting/quote-basis.ts';
import { type BLOCK_HEADERS, TARGET_BLOCK_HEADER } from '../http/block-headers.ts';
import { KEY_IGNORED_HEADER } from '../http/response-headers.ts';
import { documented } from './documented.ts';
import { EXAMPLE } from './example-market.ts';

/** What the document says of parameters and responses that resources share. */

export const ChainIdPath = z.string().openapi({
  type: 'integer',
  example: EXAMPLE.chainId,
  description: 'EVM chain id, returned by `listChains`.',
});

export const PammChainIdPath = ChainIdPath.openapi({ example: 1, description: '1 (Ethereum) or 56 (BSC).' });

export const PoolAddressPath = z.string().openapi({
  example: EXAMPLE.pool,
  description: 'Pool, 20 bytes of hex with 0x, in any case.',
});

export const ErrorBody = documented('Error', 'Why a request was not served.', {
  error: z.string().openapi({ description: 'What is wrong, as a human-readable sentence.' }),
});

/** @param example a value of the schema, as JSON */
export const jsonContent = <S extends z.ZodType>(schema: S, example?: unknown) => ({
  'application/json': { schema, ...(example !== undefined && { example }) },
});
const Text = z.string();
const textContent = { 'text/plain': { schema: Text } };

export const errorResponse = (description: string) => ({ description, content: jsonContent(ErrorBody) });

/** A failure in JSON after which a client may retry, as its description says. */
export const retriedResponse = (description: string) => ({
  ...errorResponse(`${description}; retry`),
  isRetried: true,
});

/** A failure whose body is plain text, since the request could not be parsed. */
export const textErrorResponse = (description: string) => ({ description, content: textContent });

/** A failure that is reported in JSON or, when the request could not be parsed, in plain text. */
export const errorOrTextResponse = (description: string) => ({
  description,
  content: { ...jsonContent(ErrorBody), ...textContent },
});

/** Headers that report the block at which a response was read; of several pools, the oldest block. */
export const BlockHeaders = z.object({
  'X-Block-Number': Text.openapi({
    description: 'Number of the block that the pools were read at; the oldest of several.',
  }),
  'X-Block-Hash': z.string().openapi({ description: 'Its hash.' }),
  'X-Block-Age-Ms': Text.openapi({
    description: 'Clock of the service less time of the block, milliseconds, at least 0.',
  }),
  'X-Quote-Basis': z
    .enum(BASES)
    .openapi({ description: '`live` if a quote is of the block that is being built, `X-Target-Block`.' }),
  [TARGET_BLOCK_HEADER]: z.string().optional().openapi({ description: 'Number of the block that is being built.' }),
} satisfies Record<(typeof BLOCK_HEADERS)[number] | typeof TARGET_BLOCK_HEADER, z.ZodType>);

/** The header of takers' endpoints, where a key that is not valid is as none. */
export const TakersHeaders = z.object({
  [KEY_IGNORED_HEADER]: z
    .enum(['unknown', 'unchecked'])
    .optional()
    .openapi({ description: 'Why a key that was sent counts as none; `unchecked`: it could not be looked up now.' }),
});

/** Responses other than 200, by status. A client may retry after those that say so. */
export type Failures = Readonly<Record<string, RouteConfig['responses'][string] & { readonly isRetried?: boolean }>>;

/** Failures that every endpoint has. */
export const COMMON_FAILURES = {
  401: errorResponse('Invalid API key'),
  429: { ...errorResponse('Rate limited; `Retry-After` gives the wait in seconds'), isRetried: true },
  500: retriedResponse('Internal server error, with `Retry-After` while nodes do not answer'),
} as const;
