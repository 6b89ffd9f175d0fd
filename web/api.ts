import { createRestClient, ResponseError, type Schemas } from 'pool-trading-data-client/rest';

export type Pool = Schemas['Pool'];
export type Quote = Schemas['Quote'];
export type DepthLevel = Schemas['DepthLevel'];
export type Chain = Schemas['Chain'];
export type Trade = Schemas['Trade'];
export type TradeBar = Schemas['TradeBar'];
export type QuoteBar = Schemas['QuoteBar'];
export type DepthSample = Schemas['DepthSample'];
export type PoolDay = Schemas['PoolDay'];
export type RoutePlan = Schemas['RoutePlan'];
export type ServiceStatus = Schemas['ServiceStatus'];

/** Differences of clocks below this are those of whole seconds in headers. */
const CLOCK_TOLERANCE_MS = 2_000;
let clockOffsetMs = 0;

/** The service's clock in Unix seconds, by its last answer: ages do not depend on the reader's clock. */
export const serverNow = (): number => (Date.now() + clockOffsetMs) / 1000;

function noteClock({ headers }: Response): void {
  const date = Date.parse(headers.get('Date') ?? '');
  // What a cache kept was dated then.
  if (Number.isNaN(date) || headers.get('Cache-Control') !== 'no-store') return;
  const offset = date - Date.now();
  clockOffsetMs = Math.abs(offset) > CLOCK_TOLERANCE_MS ? offset : 0;
}

/** A failure is shown this soon: pages load again by themselves. */
const DEADLINE_MS = 5_000;

/** The service that this page comes from. */
export const client = createRestClient(location.origin, {
  deadlineMs: DEADLINE_MS,
  fetch: async (request) => {
    const response = await fetch(request);
    noteClock(response);
    return response;
  },
});

/** A failed request in words that a reader can act on. */
export function inWords(error: unknown): string {
  if (!(error instanceof ResponseError)) return 'The service cannot be reached. Trying again.';
  if (error.status === 429) return 'Too many requests from your address. Trying again in a moment.';
  if (error.status >= 500) return `${error.message}. Trying again.`;
  return error.message;
}
