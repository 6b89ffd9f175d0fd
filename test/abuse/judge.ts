import type { Answer } from './send.ts';

/** Answers that the contract knows, and those to what never became a request of it. */
const DOCUMENTED = new Set([200, 204, 304, 400, 401, 404, 405, 413, 415, 422, 429, 503]);
const OF_THE_SERVER = new Set([100, 400, 408, 413, 417, 431]);
const BODYLESS = new Set([100, 204, 304]);

/** Longer than any message with the longest id that fits in a request's headers. */
const MAX_ERROR_CHARS = 17_000;

const QUERY_FAILURE = /^Failed to deserialize query string: ./;
const QUOTE_BODY_FAILURE = /^(Invalid request body: |Expected request with `Content-Type: application\/json`)/;
const CODES = ['no_route', 'insufficient_liquidity'];

/** Parts of a stack, a query or an error of a library, which only the inside of the API knows. */
const INSIDE = [
  /\n\s+at /,
  /node_modules|node:internal|\.ts:\d|\.js:\d|file:\/\//,
  /postgres(ql)?:\/\/|redis:\/\//,
  /\bE(CONNREFUSED|CONNRESET|PIPE|NOENT|TIMEDOUT)\b/,
  /\b(TypeError|RangeError|SyntaxError|ReferenceError|ZodError|DrizzleQueryError|AggregateError)\b/,
  /syntax error at|invalid input syntax|relation "|column "|violates|WRONGTYPE|read_model\.|operator\.|onchain_/,
];

export interface Judge {
  /** What is wrong with an answer to a request, of which all bytes are given; nothing when it is as documented. */
  faults(answer: Answer, request: { readonly text: string; readonly isHead: boolean }): string[];
}

/** @param secrets texts that no answer may hold */
export function createJudge(secrets: readonly string[]): Judge {
  return {
    faults: (answer, { text, isHead }) => [
      ...statusFaults(answer),
      ...(isHead || BODYLESS.has(answer.status) ? emptyFaults(answer) : bodyFaults(answer, text)),
      ...leaks(answer, text, secrets),
    ],
  };
}

function statusFaults({ status, headers }: Answer): string[] {
  const isOfServer = OF_THE_SERVER.has(status);
  const needsWait = status === 429 && !/^[1-9]\d*$/.test(headers['retry-after'] ?? '');
  const isNamed = /^[\w\-=]{1,255}$/.test(String(headers['x-request-id'] ?? ''));
  return [
    ...(isOfServer || DOCUMENTED.has(status) ? [] : [`status ${status} is not documented`]),
    ...(needsWait ? ['no Retry-After'] : []),
    ...(status === 405 && !headers.allow ? ['no Allow'] : []),
    ...(isOfServer || isNamed ? [] : ['no X-Request-Id']),
  ];
}

const emptyFaults = ({ body }: Answer): string[] => (body === '' ? [] : ['an unexpected body']);

function bodyFaults({ status, headers, body }: Answer, request: string): string[] {
  const type = headers['content-type'] ?? '';
  if (status < 400)
    return type.startsWith('application/json') && headers['content-encoding'] === undefined ? jsonFaults(body) : [];
  if (body.length > MAX_ERROR_CHARS) return [`an error of ${body.length} characters`];
  if (status === 503 && body !== '{"error":"Service temporarily unavailable"}') return ['a 503 with another body'];
  if (type.startsWith('text/plain')) return plainFaults(status, body, request);
  return type.startsWith('application/json') ? errorFaults(status, body) : [`an error of type "${type}"`];
}

function plainFaults(status: number, body: string, request: string): string[] {
  if (status === 400 && QUERY_FAILURE.test(body)) return [];
  const isOfQuoteUpdate = [400, 415, 422].includes(status) && QUOTE_BODY_FAILURE.test(body);
  return isOfQuoteUpdate && /pamm-quote/i.test(request) ? [] : ['plain text that is not documented'];
}

function errorFaults(status: number, body: string): string[] {
  const parsed = tryJson(body);
  if (typeof parsed !== 'object' || parsed === null) return ['an error that is no object'];
  const { error, code, ...others } = parsed as Record<string, unknown>;
  const codeIsRight = status === 422 ? CODES.includes(String(code)) : code === undefined;
  const isRight = typeof error === 'string' && error !== '' && codeIsRight && Object.keys(others).length === 0;
  return isRight ? [] : ['an error of another shape'];
}

const jsonFaults = (body: string): string[] => (tryJson(body) === undefined ? ['JSON that does not parse'] : []);

/** What the request itself said may come back to it. */
function leaks({ body }: Answer, request: string, secrets: readonly string[]): string[] {
  const foreign = INSIDE.flatMap((pattern) => pattern.exec(body)?.[0] ?? []);
  const named = secrets.filter((secret) => body.includes(secret));
  return [...foreign, ...named].filter((text) => !request.includes(text)).map((text) => `shows "${text}"`);
}

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // Not JSON: the caller says what follows from it.
  }
}
