import { createPoolTradingDataClient, type Schemas } from '../client/client.ts';

export type Pool = Schemas['Pool'];
export type Quote = Schemas['Quote'];
export type DepthLevel = Schemas['DepthLevel'];
export type Chain = Schemas['Chain'];
export type Trade = Schemas['Trade'];
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

/** The service that this page comes from. */
export const client = createPoolTradingDataClient(location.origin, {
  fetch: async (request) => {
    const response = await fetch(request);
    noteClock(response);
    return response;
  },
});

/** An answer other than 200, in words. */
export class RequestFailure extends Error {
  readonly status: number;
  readonly code: string | null;

  constructor(status: number, body: unknown) {
    const { error, code } = (typeof body === 'object' && body !== null ? body : { error: body }) as Record<
      string,
      unknown
    >;
    super(typeof error === 'string' && error !== '' ? error : `The service answered with status ${status}`);
    this.status = status;
    this.code = typeof code === 'string' ? code : null;
  }
}

/** @throws RequestFailure when the answer is none of 200 */
export async function unwrap<T>(
  request: Promise<{ readonly data?: T; readonly error?: unknown; readonly response: Response }>,
): Promise<T> {
  const { data, error, response } = await request;
  if (data === undefined) throw new RequestFailure(response.status, error);
  return data;
}

/** What to tell people about a failed request. */
export function inWords(error: unknown): string {
  if (!(error instanceof RequestFailure)) return 'The service cannot be reached. Trying again.';
  if (error.status === 429) return 'Too many requests from your address. Trying again in a moment.';
  if (error.status >= 500) return `${error.message}. Trying again.`;
  return error.message;
}
