import { z } from 'zod';
import { Chain } from '../../api/chains/chains.ts';
import { BatchResponse, Quote } from '../../api/quotes/quote-schema.ts';
import { RoutePlan } from '../../api/route/route-response.ts';
import { MetadataPage } from '../../db/listing/pool-record.ts';
import { parseJson } from '../../runtime/json.ts';

export const ENDPOINTS = ['chains', 'metadata', 'quote', 'batch', 'route', 'pamm'] as const;

export type EndpointName = (typeof ENDPOINTS)[number];

/** What an endpoint may answer to the requests that are sent here, and when at the latest. */
interface Contract {
  readonly body: z.ZodType;
  /** Error texts by status; a list of statuses that the contract names for the endpoint. */
  readonly errors: Readonly<Record<number, RegExp>>;
  readonly deadlineMs: number;
}

const UNAVAILABLE = /^\{"error":"Service temporarily unavailable"\}$/;
const INTERNAL = /^\{"error":"Internal server error"\}$/;
const UNKNOWN_CHAIN = /^\{"error":"Unknown chainId: 99"\}$/;
const UNKNOWN_POOL = /^\{"error":"Pair metadata not found for 0x[0-9a-f]{40}"\}$/;
const NO_PLAN = /^\{"code":"(no_route|insufficient_liquidity)","error":"[^"]+"\}$/;
const TOO_MANY = /^\{"error":"[^"]+"\}$/;
const PLAIN_QUERY = /^Failed to deserialize query string: /;
/** The text of a 502 is not fixed, but it is one line without an address of ours. */
const UPSTREAM = /^\{"error":"(?![^"]*(127\.0\.0\.1|\bat ))[^"]+"\}$/;

/**
 * Longest time until an answer where the contract names no limit: the database's limits for a connection and a
 * statement, and those of a chain's node.
 */
const HANGING_DEADLINE_MS = 15_000;

/** Nanoseconds are beyond what a JSON number of JavaScript keeps: they are read as bigint. */
const BuilderAnswer = z.strictObject({
  provider: z.string().regex(/^[a-z-]+:(ws|http):\/\//),
  accepted: z.boolean(),
  timestampNs: z.union([z.int(), z.bigint()]).optional(),
  bundleHash: z.string().optional(),
  pending: z.literal(true).optional(),
  error: z.string().optional(),
});

/** Accepted without an error, refused with one, or pending. */
const PammResponse = z
  .strictObject({ accepted: z.boolean(), providers: z.array(BuilderAnswer).min(1) })
  .refine(({ accepted, providers }) => accepted === providers.some((each) => each.accepted), 'accepted by whom?')
  .refine(
    ({ providers }) =>
      providers.every(
        (each) => [each.accepted, each.pending === true, each.error !== undefined].filter(Boolean).length === 1,
      ),
    'a builder has not exactly one outcome',
  );

const CONTRACTS: Readonly<Record<EndpointName, Contract>> = {
  chains: { body: z.array(Chain), errors: { 429: TOO_MANY, 503: UNAVAILABLE }, deadlineMs: HANGING_DEADLINE_MS },
  metadata: {
    body: MetadataPage,
    errors: { 400: PLAIN_QUERY, 404: UNKNOWN_CHAIN, 429: TOO_MANY, 503: UNAVAILABLE },
    deadlineMs: HANGING_DEADLINE_MS,
  },
  quote: {
    body: Quote,
    errors: { 400: PLAIN_QUERY, 404: UNKNOWN_POOL, 429: TOO_MANY, 500: INTERNAL, 503: UNAVAILABLE },
    deadlineMs: HANGING_DEADLINE_MS,
  },
  batch: { body: BatchResponse, errors: { 404: UNKNOWN_CHAIN, 429: TOO_MANY, 503: UNAVAILABLE }, deadlineMs: 20_000 },
  route: {
    body: RoutePlan,
    errors: { 404: UNKNOWN_CHAIN, 422: NO_PLAN, 429: TOO_MANY, 500: INTERNAL, 502: UPSTREAM, 503: UNAVAILABLE },
    deadlineMs: 5_000,
  },
  pamm: { body: PammResponse, errors: { 429: TOO_MANY, 503: UNAVAILABLE }, deadlineMs: 500 },
};

/** Statuses and texts that one entry of a batch may have. */
const BATCH_ERRORS: Readonly<Record<number, RegExp>> = {
  404: /^Pair metadata not found for /,
  500: /^Internal server error$/,
  503: /^Service temporarily unavailable$/,
};

export interface Answer {
  readonly status: number;
  readonly text: string;
  readonly retryAfter: string | null;
}

export function deadlineOf(endpoint: EndpointName): number {
  return CONTRACTS[endpoint].deadlineMs;
}

/** What is undocumented about an answer; null when nothing is. */
export function objectionTo(endpoint: EndpointName, { status, text, retryAfter }: Answer): string | null {
  if (status === 200) return objectionToBody(endpoint, text);
  const pattern = CONTRACTS[endpoint].errors[status];
  if (pattern === undefined) return `status ${status} is not documented: ${text.slice(0, 200)}`;
  if (!pattern.test(text)) return `undocumented body of a ${status}: ${text.slice(0, 200)}`;
  if (status === 429 && !/^\d+$/.test(retryAfter ?? '')) return 'a 429 without Retry-After';
  return null;
}

function objectionToBody(endpoint: EndpointName, text: string): string | null {
  const parsed = CONTRACTS[endpoint].body.safeParse(jsonOf(text));
  if (!parsed.success) return `undocumented body of a 200: ${z.prettifyError(parsed.error).slice(0, 400)}`;
  if (endpoint !== 'batch') return null;
  const { results } = BatchResponse.parse(parsed.data);
  for (const result of results) {
    if (!('error' in result)) continue;
    const { status, error } = result.error;
    if (BATCH_ERRORS[status]?.test(error) !== true) return `undocumented entry of a batch: ${status} ${error}`;
  }
  return null;
}

function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined; // No schema takes it.
  }
}
