import { headersOf } from './headers.ts';
import type { HeldQuotes } from './held-quotes.ts';
import { rejection } from './rejection.ts';
import type { Block, Connection, PoolFailure, Quote } from './types.ts';

type Result = { readonly poolAddress: string } & (
  | { readonly quote: Quote }
  | { readonly error: { readonly status: number; readonly error: string } }
);

/** Most pools that one request may name. */
const MAX_POOLS = 100;

/** Requests the quotes of all pools, and replaces the held quotes by them. */
export async function holdBatch(connection: Connection, held: HeldQuotes, signal: AbortSignal): Promise<void> {
  const { pools } = connection;
  // A pool may have been read at the beginning of a request that then waits for others.
  const ageMs = held.startWatch();
  const parts = Array.from({ length: Math.ceil(pools.length / MAX_POOLS) }, (_, index) =>
    requestBatch(connection, pools.slice(index * MAX_POOLS, (index + 1) * MAX_POOLS), signal),
  );
  const answers = await Promise.all(parts);
  const quotes: [string, Quote][] = [];
  const failures: PoolFailure[] = [];
  for (const result of answers.flatMap(({ results }) => results)) {
    if ('quote' in result) quotes.push([result.poolAddress, result.quote]);
    else failures.push({ poolAddress: result.poolAddress, ...result.error });
  }
  const oldest = answers.flatMap(({ block }) => block ?? []).sort((one, other) => one.number - other.number)[0];
  held.connect('batch');
  held.replace(oldest ?? null, quotes, failures, ageMs);
}

async function requestBatch(
  { base, depth, basis, apiKey, fetch }: Connection,
  pools: readonly string[],
  signal: AbortSignal,
) {
  const headers = headersOf(apiKey, { 'Content-Type': 'application/json' });
  const body = JSON.stringify({ pools, depth, basis });
  const response = await fetch(`${base}/bid_ask/batch`, { method: 'POST', headers, body, signal });
  if (!response.ok) throw await rejection(response);
  const { results } = (await response.json()) as { readonly results: readonly Result[] };
  return { results, block: blockOf(response.headers) };
}

/** Gives the block of a batch; null when no pool of it was read. */
function blockOf(headers: Headers): Block | null {
  const [number, hash] = [headers.get('X-Block-Number'), headers.get('X-Block-Hash')];
  return number && hash ? { number: Number(number), hash, timestamp: null } : null;
}
