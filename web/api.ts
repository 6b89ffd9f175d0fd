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
export type PoolTrend = Schemas['PoolTrend'];
export type PoolSums = Schemas['PoolSums'];
export type RoutePlan = Schemas['RoutePlan'];
export type ServiceStatus = Schemas['ServiceStatus'];

/** Smaller differences of clocks are ignored: headers have whole seconds only. */
const CLOCK_TOLERANCE_MS = 2_000;
let clockOffsetMs = 0;

/** Gives the service's time in Unix seconds, by its last response, so that ages do not depend on the reader's clock. */
export const serverNow = (): number => (Date.now() + clockOffsetMs) / 1000;

function noteClock({ headers }: Response): void {
  const date = Date.parse(headers.get('Date') ?? '');
  // A cached response has the date at which it was cached.
  if (Number.isNaN(date) || headers.get('Cache-Control') !== 'no-store') return;
  const offset = date - Date.now();
  clockOffsetMs = Math.abs(offset) > CLOCK_TOLERANCE_MS ? offset : 0;
}

/** Time until a failure is shown. It may be short, since pages load again by themselves. */
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

/** Describes a failed request in words that a reader can act on. */
export function inWords(error: unknown): string {
  if (!(error instanceof ResponseError)) return 'The service cannot be reached. Trying again.';
  if (error.status === 429) return 'Too many requests from your address. Trying again in a moment.';
  if (error.status >= 500) return `${error.message}. Trying again.`;
  return error.message;
}
